import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import { Retrigger } from "#api/rerun.ts";
import type { Db, Tx } from "#db/db.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { type CancellingQueue, cancelGraph } from "./cancel-graph.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import { wholeGraph } from "./graph-page.store.ts";
import { jobDetail } from "./job-detail.store.ts";
import { retrigger } from "./reruns/retrigger.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

/** Commits definitions with a line that makes the commit unique. */
function commitJobs(jobs: string): void {
  farm.repository.write({ ".grange/jobs.yml": `version: 1\njobs:\n${jobs}\n# ${randomUUID()}` });
  farm.repository.commit("Change");
}

test.each([
  { what: "a graph that succeeded", jobs: undefined, exitCode: 0, skipped: "on-failure" },
  { what: "a graph that failed", jobs: undefined, exitCode: 1, skipped: "on-success" },
  { what: "a skipped job of one", jobs: ["on-failure"], exitCode: 0, skipped: "on-failure" },
  {
    what: "a skipped job of a failed one",
    jobs: ["on-success"],
    exitCode: 1,
    skipped: "on-success",
  },
])("cancelling $what leaves its end as it is", async ({ jobs, exitCode, skipped }) => {
  const mark = randomUUID();
  commitJobs(
    `  a: {commands: "first # ${mark}"}\n  on-success: {commands: "b # ${mark}", needs: [a]}\n` +
      `  on-failure: {commands: "c # ${mark}", needs: {a: {on: failure}}}`,
  );
  const { id } = await farm.submit();
  await farm.work((script) => ({ exitCode: script.includes("first") ? exitCode : 0 }));
  const before = await wholeGraph(db, id);

  const found = await cancelGraph(db, farm.queue, everybody, id, jobs);

  expect(found).toBe(true);
  expect((await farm.states(id))[skipped]).toBe("unreachable");
  expect(await wholeGraph(db, id)).toEqual(before);
});

test("a cancelled job that fails before it receives the cancellation is not retried", async () => {
  commitJobs(`  a: {commands: "x # ${randomUUID()}", retries: 2}`);
  const { id } = await farm.submit();
  await farm.prepare();
  const [leased] = await farm.claim(10_000);
  if (leased === undefined) throw new Error("nothing was handed out");
  await cancelGraph(db, farm.queue, everybody, id, ["a"]);

  await farm.queue.finish({ lease: leased.lease, outcome: "failed", exitCode: 1 });

  const detail = await jobDetail(db, id, "a");
  expect(detail?.job.state).not.toBe("ready");
  expect(detail?.runList.map((run) => run.cause)).toEqual(["first"]);
  expect((await wholeGraph(db, id))?.state).toBe("failed");
});

test("a run that joins an execution during its cancellation keeps it", async () => {
  commitJobs(`  a: {commands: "joined # ${randomUUID()}"}`);
  const first = await farm.submit();
  await farm.prepare();
  const second = await farm.submit();
  const queue: CancellingQueue = {
    ...farm.queue,
    async transaction(work) {
      await farm.prepare();
      return farm.queue.transaction(work);
    },
  };

  await cancelGraph(db, queue, everybody, first.id);
  await farm.work();

  expect([await farm.states(first.id), await farm.states(second.id)]).toEqual([
    { a: "cancelled" },
    { a: "succeeded" },
  ]);
});

test("an execution that two graphs share ends when both are cancelled at once", async () => {
  commitJobs(`  a: {commands: "shared # ${randomUUID()}"}`);
  const [first, second] = [await farm.submit(), await farm.submit()];
  await farm.prepare();
  const together = committingTogether(db, 2);

  await Promise.all(
    [first, second].map(({ id }) => cancelGraph(together, farm.queue, everybody, id)),
  );

  expect([await farm.states(first.id), await farm.states(second.id)]).toEqual([
    { a: "cancelled" },
    { a: "cancelled" },
  ]);
  expect(await farm.claim(0)).toEqual([]);
});

/**
 * Returns a database whose transactions commit only when this number of them have done their work.
 */
function committingTogether(each: Db, number: number): Db {
  let working = number;
  let letGo = () => {};
  const allDone = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const waitForAll = async <T>(tx: Tx, work: (tx: Tx) => Promise<T>) => {
    const value = await work(tx);
    if (--working === 0) letGo();
    await allDone;
    return value;
  };
  return { ...each, transaction: (work) => each.transaction((tx) => waitForAll(tx, work)) };
}

test("a join that was open when its graph was cancelled opens again with the jobs that it gathers", async () => {
  const mark = randomUUID();
  commitJobs(
    `  a: {commands: "first # ${mark}"}\n  all: {kind: join, needs: [a]}\n` +
      `  b: {commands: "b # ${mark}", needs: [all]}`,
  );
  const { id } = await farm.submit();
  await farm.work();
  const again = (names: string[]) =>
    retrigger({ db, pricePerWorkerMinute: 0 }, id, Retrigger.parse({ jobs: names }), everybody);
  await again(["a"]);
  await farm.prepare();

  await cancelGraph(db, farm.queue, everybody, id);
  expect(await farm.states(id)).toEqual({ a: "cancelled", all: "unreachable", b: "succeeded" });
  await again(["a", "b"]);

  expect(await farm.states(id)).toEqual({ a: "ready", all: "blocked", b: "blocked" });
  await farm.work();
  expect(await farm.states(id)).toEqual({ a: "succeeded", all: "succeeded", b: "succeeded" });
});
