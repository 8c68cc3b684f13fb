import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { Clone } from "#api/rerun.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "#execution/execution.ts";
import { readExecutions } from "#execution/read-executions.store.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { advanceStoredGraphs, lockGraphs } from "../advancing/advance.store.ts";
import { farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import { GraphId } from "../graph-id.ts";
import { jobSummary, wholeGraph } from "../graph-page.store.ts";
import { jobDetail } from "../job-detail.store.ts";
import { cloneGraph } from "../reruns/clone-graph.ts";
import { timesOfRuns } from "../times/times.store.ts";
import { expireJobs } from "./expire-jobs.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const hourMs = 3_600_000;
const later = (ms: number) => new Date(Date.now() + ms);

/** Commits unique definitions, so that the cache has no result for them. */
function commitJobs(jobs: string): void {
  farm.repository.write({ ".grange/jobs.yml": `version: 1\njobs:\n${jobs}\n# ${randomUUID()}` });
  farm.repository.commit("Change");
}

async function submit(jobs: string, ttl?: string) {
  commitJobs(jobs.replaceAll("RUN", `"x # ${randomUUID()}"`));
  return (await farm.submit(ttl === undefined ? {} : { ttl })).id;
}

async function deadlineOf(id: GraphId, job: string): Promise<Date | null | undefined> {
  const [row] = await db.many(
    z.object({ at: z.date().nullable() }),
    sql`select expires_at as at from job where graph_id = ${id} and name = ${job}`,
  );
  return row?.at;
}

test.each([
  { written: "fail", state: "failed", report: "unreachable", graph: "failed" },
  { written: "skip-bad", state: "expired", report: "unreachable", graph: "succeeded" },
  { written: "skip-good", state: "expired", report: "ready", graph: "running" },
])("a ready job that waits too long means what its definition says: $written", async (each) => {
  const id = await submit(
    `  a: {commands: RUN, ttl: 1h 30m, on-expiry: ${each.written}}\n  report: {commands: RUN, needs: [a]}`,
  );

  const early = await expireJobs(db, farm.queue, later(hourMs));
  await expireJobs(db, farm.queue, later(2 * hourMs));

  expect(early).toBe(0);
  expect(await farm.states(id)).toEqual({ a: each.state, report: each.report });
  expect(await wholeGraph(db, id)).toMatchObject({ state: each.graph });
  expect((await jobSummary(db, id, "a"))?.reason).toBe("waited longer than 1h 30m for its start");
});

test("a job that was ready, even if it expired, has waited: times have a row for it", async () => {
  const pool = `none-${randomUUID()}`;
  const id = await submit(
    `  a: {commands: RUN, ttl: 1h, platform: {pool: ${pool}}}\n  blocked: {commands: RUN, ttl: 1h, needs: [a], platform: {pool: ${pool}}}`,
  );
  const waits = async () => {
    const span = { from: later(-hourMs), until: later(3 * hourMs) };
    const { groups } = await timesOfRuns(db, span, "pool", 900);
    return groups.find(({ name }) => name === `pool=${pool}`);
  };
  const whileReady = await waits();

  await expireJobs(db, farm.queue, later(2 * hourMs));

  expect(whileReady).toMatchObject({ wait: { count: 1 }, run: { count: 0 }, withinGoal: 0 });
  const expired = await waits();
  expect(expired).toMatchObject({ wait: { count: 1 }, run: { count: 0 }, withinGoal: 0 });
  expect(expired?.wait.maxMs).toBeGreaterThan(1.9 * hourMs);
  expect((await jobDetail(db, id, "a"))?.runList).toMatchObject([
    {
      number: 1,
      cause: "first",
      outcome: "cancelled",
      startedAt: null,
      executionId: null,
      message: "waited longer than 1h for its start",
    },
  ]);
  expect((await jobDetail(db, id, "blocked"))?.runList).toEqual([]);
});

test("a blocked job expires, too; the job that it waits for continues", async () => {
  const id = await submit("  a: {commands: RUN}\n  b: {commands: RUN, needs: [a], ttl: 1h}");

  await expireJobs(db, farm.queue, later(2 * hourMs));

  expect(await farm.states(id)).toEqual({ a: "ready", b: "failed" });
});

test("a queued job expires: its run and its execution end", async () => {
  const id = await submit("  a: {commands: RUN, ttl: 1h}");
  await farm.prepare();

  await expireJobs(db, farm.queue, later(2 * hourMs));

  expect(await farm.states(id)).toEqual({ a: "failed" });
  const [run] = (await jobDetail(db, id, "a"))?.runList ?? [];
  expect(run).toMatchObject({
    outcome: "cancelled",
    message: "waited longer than 1h for its start",
  });
  const executions = await readExecutions(db, [ExecutionId.parse(run?.executionId)]);
  expect(executions).toMatchObject([{ state: { kind: "finished", outcome: "cancelled" } }]);
});

test("an execution that another run shares continues for that run", async () => {
  commitJobs(`  a: {commands: "x # ${randomUUID()}", ttl: 1h}`);
  const hasty = await farm.submit({ ttl: "30m" });
  const patient = await farm.submit();
  await farm.prepare();

  await expireJobs(db, farm.queue, later(45 * 60_000));
  await farm.work();

  expect(await farm.states(hasty.id)).toEqual({ a: "failed" });
  expect(await farm.states(patient.id)).toEqual({ a: "succeeded" });
});

test("a job that a worker has taken does not expire", async () => {
  const id = await submit("  a: {commands: RUN, ttl: 1h}");
  await farm.prepare();
  const [leased] = await farm.claim(10_000);
  if (leased === undefined) throw new Error("nothing was handed out");

  await expireJobs(db, farm.queue, later(2 * hourMs));
  const taken = await farm.states(id);
  await farm.queue.started(leased.lease, new Date());
  await expireJobs(db, farm.queue, later(2 * hourMs));

  expect(taken).toEqual({ a: "queued" });
  expect(await farm.states(id)).toEqual({ a: "running" });
  expect(await deadlineOf(id, "a")).toBeNull();
  await farm.queue.finish({ lease: leased.lease, outcome: "succeeded", exitCode: 0 });
});

test("a graph's ttl is an upper bound for all its jobs", async () => {
  const id = await submit(
    "  a: {commands: RUN, ttl: 3h}\n  b: {commands: RUN}\n  c: {commands: RUN, ttl: 1h}",
    "2h",
  );

  await expireJobs(db, farm.queue, later(1.5 * hourMs));
  const first = await farm.states(id);
  await expireJobs(db, farm.queue, later(2.5 * hourMs));

  expect(first).toEqual({ a: "ready", b: "ready", c: "failed" });
  expect(await farm.states(id)).toEqual({ a: "failed", b: "failed", c: "failed" });
  await expect(farm.submit({ ttl: "soon" })).rejects.toThrow("not a duration from 1s to 30d");
});

test("a skipped job does not expire, and gets its full time when it is revived", async () => {
  const id = await submit("  a: {commands: RUN}\n  b: {commands: RUN, needs: [a], ttl: 1h}");
  await farm.work(() => ({ exitCode: 1 }));

  await expireJobs(db, farm.queue, later(2 * hourMs));
  const skipped = await farm.states(id);
  await db.run(sql`update job set expires_at = now() where graph_id = ${id} and name = 'b'`);
  await farm.queue.transaction(async (tx) => {
    const graphs = await lockGraphs(tx, [id]);
    await tx.run(sql`update job set wanted = 'retrigger' where graph_id = ${id} and name = 'a'`);
    await advanceStoredGraphs(
      tx,
      graphs.map((graph) => ({ graph, jobs: ["a"] })),
    );
  });
  const revived = await deadlineOf(id, "b");

  expect(skipped).toEqual({ a: "failed", b: "unreachable" });
  expect(await farm.states(id)).toEqual({ a: "ready", b: "blocked" });
  expect(revived?.getTime()).toBeGreaterThan(Date.now() + 0.9 * hourMs);
});

test("a graph with expired jobs can be cloned, and the clone has its full time", async () => {
  const id = await submit("  a: {commands: RUN, ttl: 1h}\n  b: {commands: RUN, needs: [a]}");
  await expireJobs(db, farm.queue, later(2 * hourMs));
  const services = { db, planToday: () => Promise.reject(new Error("nobody asked for today's")) };

  const cloned = await cloneGraph(services, id, Clone.parse({ mode: "as-it-ran" }), everybody);
  const clone = GraphId.parse(cloned?.graph?.id);
  await farm.work();

  expect(await farm.states(id)).toEqual({ a: "failed", b: "unreachable" });
  expect(await farm.states(clone)).toEqual({ a: "succeeded", b: "succeeded" });
});
