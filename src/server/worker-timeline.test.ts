import { afterAll, beforeAll, expect, test } from "vitest";
import { WorkerTimeline } from "#api/worker-timeline.ts";
import { aWorker } from "#execution/execution.fixture.ts";
import { registerWorkers } from "#execution/leasing/worker.store.ts";
import { farmOfGraphs } from "#graphs/farm-of-graphs.fixture.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { traceOfTimeline } from "./trace-timeline.ts";
import { readWorkerTimeline } from "./worker-timeline.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const read = async (mostRuns: number) =>
  WorkerTimeline.parse(
    await readWorkerTimeline(db, {
      now: new Date(Date.now() + 1_000),
      leaseMs: 60_000,
      backMs: 3_600_000,
      mostRuns,
    }),
  );

test("shows which worker ran which job, how it ended, and that the slot was free afterwards", async () => {
  farm.repository.write({
    ".grange/jobs.yml":
      "version: 1\njobs:\n  build: {commands: make, inputs: []}\n  test: {commands: ./t, inputs: [], needs: [build]}",
  });
  farm.repository.commit("first");
  await farm.submit();
  await farm.work((script) => (script.includes("make") ? {} : { exitCode: 1 }));

  const timeline = await read(100);
  const { runs, gaps, labels, workers } = timeline;
  const shown = runs.execution.map((_, n) => [labels[runs.label[n] ?? 0], runs.outcome[n]]);

  expect(shown.map(String).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    "build,succeeded",
    "test,failed",
  ]);
  expect(new Set(gaps.cause)).toEqual(new Set(["no work"]));
  const sum = workers[runs.worker[0] ?? 0];
  expect(sum?.noWorkMs).toBeGreaterThan(0);
  expect(timeline.isCut).toBe(false);

  const trace = traceOfTimeline(timeline);
  const spans = trace.traceEvents.filter(({ ph }) => ph === "X");
  expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(["no work"]));
  expect(trace.traceEvents).toContainEqual(
    expect.objectContaining({ ph: "M", name: "process_name", args: { name: sum?.name } }),
  );
  for (const { ts = 0, dur = 0 } of spans) {
    expect(ts).toBeGreaterThanOrEqual(0);
    expect(dur).toBeGreaterThanOrEqual(0);
  }
});

test("with more runs than asked for, the latest are shown and the period begins with them", async () => {
  const { isCut, runs, from } = await read(1);

  expect(isCut).toBe(true);
  expect(runs.execution).toHaveLength(1);
  expect(Date.now() - Date.parse(from)).toBeLessThan(3_000_000);
});

test("a worker whose heartbeats stopped is lost since its last one", async () => {
  const silentSince = new Date(Date.now() - 600_000);
  await db.transaction((tx) => registerWorkers(tx, [aWorker("silent-worker")], silentSince));

  const { workers } = await read(100);

  const silent = workers.find(({ name }) => name === "silent-worker");
  expect(silent?.lostMs).toBeGreaterThan(590_000);
  expect(silent?.noWorkMs).toBe(0);
});
