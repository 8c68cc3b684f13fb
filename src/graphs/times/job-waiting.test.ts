import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { WaitingReason } from "#api/waiting.ts";
import { sql } from "#db/sql.ts";
import { defaultTimes } from "#execution/queue-times.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import { GraphId } from "../graph-id.ts";
import { postponeJob, takeReadyJobs } from "../ready-job.store.ts";
import { jobWaiting } from "./job-waiting.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
beforeEach(() => db.script("truncate execution, graph cascade"));
afterAll(async () => {
  await farm.stop();
  await db.close();
});

async function submit(jobs: string): Promise<GraphId> {
  farm.repository.write({ ".grange/jobs.yml": `version: 1\njobs:\n${jobs}\n# ${randomUUID()}` });
  farm.repository.commit("Change");
  return (await farm.submit()).id;
}

const why = (id: GraphId, job: string): Promise<WaitingReason | null | undefined> =>
  // The worker sends no heartbeats in this test, however long the test takes.
  jobWaiting(db, id, job, new Date(), { ...defaultTimes, leaseMs: 3_600_000 });

const chain = `
  build: {commands: make ${randomUUID()}}
  pack: {commands: pack, needs: [build]}
  test: {commands: ./test, needs: [pack]}
`;

test("a blocked job names the jobs that it waits for, and the reason of the first job of the chain", async () => {
  const id = await submit(chain);

  expect(await why(id, "test")).toMatchObject({
    kind: "dependency",
    root: { name: "build", state: "ready" },
    jobs: [{ name: "pack", state: "blocked" }],
    count: 1,
    sentence: "waits for pack; first of all, build is next to be prepared",
  });
  await farm.prepare();
  const [held] = await farm.claim(1_000);
  if (held === undefined) throw new Error("nothing was handed out");
  expect(await why(id, "build")).toMatchObject({ kind: "starting", worker: "w" });
  await farm.queue.started(held.lease, new Date());
  expect(await why(id, "build")).toBeNull();
  expect(await why(id, "pack")).toMatchObject({
    sentence: "waits for build; build is running",
    root: { name: "build", state: "running" },
  });
});

test("a ready job shows whether it is being prepared, or what prevents that", async () => {
  const id = await submit(chain);
  const [taken] = await takeReadyJobs(db, 1, 15);
  if (taken === undefined) throw new Error("nothing was ready");

  expect(await why(id, "build")).toMatchObject({
    kind: "preparing",
    sentence: "is being prepared: its files are put together",
  });
  await postponeJob(db, taken, 30, "the disk is full");
  expect(await why(id, "build")).toMatchObject({
    kind: "preparing",
    trouble: "the disk is full",
    sentence: expect.stringMatching(
      /^could not be prepared 1 time, .* in \d+ s: the disk is full$/,
    ),
  });
});

test("a queued job that no worker can run shows what is missing, not that workers are busy", async () => {
  const id = await submit(`  a: {commands: "true", platform: {gpu: cuda}}`);
  await farm.prepare();

  expect(await why(id, "a")).toMatchObject({
    kind: "capacity-none",
    missing: { property: "gpu", asked: "cuda", offered: [] },
  });
});

test("a queued job behind others of its graph shows their number", async () => {
  const names = Array.from({ length: 20 }, (_, i) => `j${i}`);
  const id = await submit(names.map((name) => `  ${name}: {commands: echo ${name}}`).join("\n"));
  await farm.prepare();

  const reasons = await Promise.all(names.map((name) => why(id, name)));

  const ahead = reasons.map((reason) => (reason?.kind === "priority" ? reason.ahead.sameGraph : 0));
  expect(ahead.toSorted((a, b) => a - b)).toEqual(names.map((_, i) => i));
});

test("a breakpoint shows who may release it, and so does a job that waits for it", async () => {
  const id = await submit(
    "  approve: {kind: breakpoint, release: [alice], message: look}\n  ship: {commands: ship, needs: [approve]}",
  );
  // Does the same as the server-job loop.
  await db.run(sql`
    insert into run (graph_id, job, number, cause, state, served_by)
    values (${id}, 'approve', 1, 'first', 'waiting', 'farm')
  `);
  await db.run(sql`
    update job set state = 'waiting', runs = 1, wanted = null
    where graph_id = ${id} and name = 'approve'
  `);

  expect(await why(id, "approve")).toMatchObject({
    kind: "person",
    mayRelease: ["alice"],
    message: "look",
  });
  expect(await why(id, "ship")).toMatchObject({
    kind: "dependency",
    sentence: "waits for approve; approve waits for a person to release it",
  });
});

test("a missing job has no reason", async () => {
  expect(await why(await submit(chain), "nothing")).toBeUndefined();
  expect(await why(GraphId.parse(randomUUID()), "build")).toBeUndefined();
});
