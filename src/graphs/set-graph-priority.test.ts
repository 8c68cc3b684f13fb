import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { auditOfGraph } from "#access/audit.store.ts";
import { everybody, type Grant, type Principal } from "#access/principal.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { setBranchDefinition } from "./catalogs/branch-definition.store.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import { GraphId } from "./graph-id.ts";
import { graphSummary } from "./graph-summary.store.ts";
import { jobDetail } from "./job-detail.store.ts";
import { setGraphPriority } from "./set-graph-priority.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

function alice(...grants: readonly Partial<Grant>[]): Principal {
  const plain = { verb: "*", repository: "*", branch: "*", priorityCap: null, top: false } as const;
  return { name: "alice", grants: grants.map((each) => ({ ...plain, ...each })) };
}

function commitJobs(...jobs: readonly string[]): void {
  const text = ["version: 1", "jobs:", ...jobs, ""].join("\n");
  farm.repository.write({ ".grange/farm.yml": text });
  farm.repository.commit("Change");
}

/** Returns a job that no other graph has. */
const job = (name: string, more = "") =>
  `  ${name}: {commands: "run # ${randomUUID()}", inputs: []${more}}`;

async function queued(id: GraphId): Promise<Record<string, number>> {
  const rows = await db.many(
    z.object({ job: z.string(), priority: z.number() }),
    sql`
      select run.job, execution.priority
      from run join execution on execution.id = run.execution_id
      where run.graph_id = ${id}
    `,
  );
  return Object.fromEntries(rows.map(({ job: name, priority }) => [name, priority]));
}

test("jobs that are queued, in preparation, or come later get the new priority", async () => {
  commitJobs(job("a", ", priority: 3"), job("b", ", needs: [a]"));
  const { id } = await farm.submit({ priority: 5 });
  await farm.prepare();
  expect(await queued(id)).toEqual({ a: -8 });

  const changed = await setGraphPriority(
    farm.queue,
    id,
    { priority: 40, reason: "blocks others" },
    alice({}),
  );
  const now = await queued(id);
  await farm.work();

  expect(changed).toEqual({
    id,
    job: null,
    priority: 40,
    top: false,
    notice: null,
    moved: 1,
  });
  expect(now).toEqual({ a: -43 });
  expect(await queued(id)).toEqual({ a: -43, b: -40 });
  expect(await auditOfGraph(db, id)).toMatchObject([
    {
      actor: "alice",
      verb: "prioritise",
      reason: "blocks others",
      detail: { from: { priority: 5, top: false }, to: { priority: 40, top: false } },
    },
    { actor: "anyone", verb: "submit" },
  ]);
});

test("a cap applies to the sum of the graph's and the job's own priorities", async () => {
  commitJobs(job("a", ", priority: 900"));
  const { id, graph } = await farm.submit({ priority: 80 }, alice({ priorityCap: 50 }));
  await farm.prepare();

  expect(graph.priority).toBe(50);
  expect(await queued(id)).toEqual({ a: -50 });
});

test("one job's priority changes without a customisation, in the queue and before", async () => {
  commitJobs(job("a", ", priority: 3"), job("b"), job("c", ", needs: [b]"));
  const { id } = await farm.submit({ priority: 5 });
  await farm.prepare();

  const changed = await setGraphPriority(farm.queue, id, { job: "a", priority: 40 }, everybody);
  await setGraphPriority(farm.queue, id, { job: "c", priority: -7 }, everybody);

  expect(changed).toEqual({ id, job: "a", priority: 40, top: false, notice: null, moved: 1 });
  expect(await queued(id)).toEqual({ a: -45, b: -5 });
  await farm.work();
  expect(await queued(id)).toMatchObject({ c: 2 });
  expect(await jobDetail(db, id, "a")).toMatchObject({
    priority: 40,
    job: { customised: false },
    origin: { audit: [{ verb: "prioritise", job: "a" }] },
  });
  await expect(
    setGraphPriority(farm.queue, id, { job: "none", priority: 1 }, everybody),
  ).rejects.toMatchObject({ code: "not_found" });
});

test("a cap applies to a job and its graph together", async () => {
  commitJobs(job("a"));
  const { id } = await farm.submit({ priority: 30 });
  await farm.prepare();

  const changed = await setGraphPriority(
    farm.queue,
    id,
    { job: "a", priority: 50 },
    alice({ priorityCap: 40 }),
  );

  expect(changed).toMatchObject({ priority: 10, notice: expect.stringContaining("lowered to 40") });
  expect(await queued(id)).toEqual({ a: -40 });
});

test("an execution that two graphs share has the higher priority", async () => {
  commitJobs(job("a"));
  const calm = await farm.submit({ priority: 1 });
  const hurried = await farm.submit({ priority: 30 });
  await farm.prepare();

  await setGraphPriority(farm.queue, calm.id, { priority: -100 }, everybody);
  expect(await queued(calm.id)).toEqual({ a: -30 });
  await setGraphPriority(farm.queue, hurried.id, { priority: -200 }, everybody);

  expect(await queued(calm.id)).toEqual({ a: 100 });
});

test("the top class can be set and removed without another priority", async () => {
  commitJobs(job("a"));
  const { id } = await farm.submit({ priority: 7 });

  const up = await setGraphPriority(farm.queue, id, { top: true }, everybody);
  const down = await setGraphPriority(farm.queue, id, { top: false }, alice({ priorityCap: 1 }));

  expect(up).toMatchObject({ priority: 7, top: true });
  expect(down).toMatchObject({ priority: 7, top: false });
});

test("a principal without the right is rejected, and nothing changes", async () => {
  commitJobs(job("a"));
  const { id } = await farm.submit({ priority: 7 });
  const before = await graphSummary(db, id);

  await expect(
    setGraphPriority(farm.queue, id, { priority: 9 }, alice({ verb: "submit" })),
  ).rejects.toThrow("alice may not prioritise");
  await expect(
    setGraphPriority(farm.queue, id, { top: true }, alice({ verb: "prioritise" })),
  ).rejects.toThrow("alice may not use the top class");

  expect(await graphSummary(db, id)).toEqual(before);
});

test("a priority above a cap is lowered with a notice, and rejected on a protected branch", async () => {
  commitJobs(job("a"));
  farm.repository.git("branch", "release");
  const { id, graph } = await farm.submit({ rev: "release" });
  const capped = alice({ priorityCap: 10 });
  const lowered = await setGraphPriority(farm.queue, id, { priority: 99 }, capped);
  await db.transaction((tx) =>
    setBranchDefinition(tx, {
      repository: graph.repository,
      branch: graph.branch,
      body: { protected: true },
      setBy: "root",
      why: undefined,
      after: undefined,
    }),
  );

  expect(lowered).toMatchObject({
    priority: 10,
    notice: "priority 99 was lowered to 10, the cap of alice",
  });
  await expect(setGraphPriority(farm.queue, id, { priority: 99 }, capped)).rejects.toMatchObject({
    code: "permission_denied",
    message: expect.stringContaining("10"),
  });
});

test("simultaneous changes while jobs enter the queue leave all jobs with the last priority", async () => {
  commitJobs(...Array.from({ length: 12 }, (_, i) => job(`j${i}`)));
  const { id } = await farm.submit({ priority: 1 });

  await Promise.all([
    farm.prepare(),
    ...[2, 3, 4].map((priority) => setGraphPriority(farm.queue, id, { priority }, everybody)),
  ]);
  await farm.prepare();

  const { priority } = (await graphSummary(db, id)) ?? { priority: 0 };
  expect(new Set(Object.values(await queued(id)))).toEqual(new Set([-priority]));
  expect(Object.keys(await queued(id))).toHaveLength(12);
});

test("a missing graph has no priority", async () => {
  const nobody = GraphId.parse(randomUUID());

  expect(await setGraphPriority(farm.queue, nobody, { priority: 1 }, everybody)).toBeUndefined();
});
