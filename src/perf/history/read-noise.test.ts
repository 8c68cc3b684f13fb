import { beforeEach, expect, test } from "vitest";
import type { MetricNoise } from "#api/benchmark-noise.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { emptyLab, labEpoch } from "../perf.fixture.ts";
import { aCase, aLine, nth, storeFigures, storeLine } from "./history.fixture.ts";
import { readComparison, resolveComparison } from "./read-comparison.ts";
import { readNoise } from "./read-noise.ts";

const db = await freshDb();
beforeEach(() => emptyLab(db));

const noise = () => db.transaction((tx) => readNoise(tx, { suite: "demo", case: aCase() }));

async function noiseOf(metric: string, fingerprint = "one"): Promise<MetricNoise | undefined> {
  const { machines } = await noise();
  const machine = machines.find((each) => each.fingerprint === fingerprint);
  return machine?.metrics.find((each) => each.metric.name === metric);
}

/** Stores self-tests of the machine `one`, the first one first. */
async function storeSelfTests(metric: string, changes: readonly number[]): Promise<void> {
  for (const [i, change] of changes.entries()) {
    await db.run(sql`
      insert into benchmark_noise (case_id, metric, environment_id, at, change)
      select benchmark_case.id, ordinal, environment.id, ${new Date(labEpoch.getTime() + i * 1_000)}, ${change}
      from benchmark_case, benchmark_metric, benchmark_environment as environment
      where benchmark_case.benchmark = 'alpha' and benchmark_metric.name = ${metric} and fingerprint = 'one'
    `);
  }
}

test("the noise of a count with one run is not known, and only large changes are reported", async () => {
  const line = await aLine(db, 1);
  await storeFigures(db, {
    artifact: nth(line, 1),
    values: { instructions: 1_000 },
    scatter: null,
  });

  expect(await noiseOf("instructions")).toMatchObject({
    runs: [],
    selfTests: [],
    selfTestsP95: null,
    fence: null,
    limit: 0.02,
    from: "unseen",
  });
});

test("the limit of a count is computed from the runs of the newest artifact, and all values are listed, the newest first", async () => {
  const line = await aLine(db, 2);
  for (const [day, scatter] of [
    [1, 0.004],
    [2, 0.003],
  ] as const)
    await storeFigures(db, {
      artifact: nth(line, day),
      values: { instructions: 1_000 },
      scatter: { instructions: scatter },
    });

  const found = await noiseOf("instructions");

  expect(found?.from).toBe("runs");
  expect(found?.limit).toBeCloseTo(0.006, 6);
  expect(found?.runs.map(({ artifact }) => artifact)).toEqual(["n2", "n1"]);
  expect(found?.runs[1]?.scatter).toBeCloseTo(0.004, 6);
});

test("self-tests determine the limit if they differ more than the runs", async () => {
  const line = await aLine(db, 1);
  await storeFigures(db, {
    artifact: nth(line, 1),
    values: { instructions: 1_000, "wall-time": 1 },
    scatter: { instructions: 0.001, "wall-time": 0.3 },
  });
  await storeSelfTests("instructions", [0.005, 0.005, 0.005]);
  await storeSelfTests("wall-time", [0.01, 0.03, 0.03]);

  const count = await noiseOf("instructions");
  const time = await noiseOf("wall-time");

  expect(count).toMatchObject({ limit: 0.01, from: "self-tests", selfTestsP95: 0.005 });
  expect(time).toMatchObject({ limit: 0.03, from: "self-tests" });
  expect(time?.selfTests.map(({ change }) => change)).toEqual([0.03, 0.03, 0.01]);
});

test("the limit is the threshold of the next comparison", async () => {
  const line = await aLine(db, 33);
  const swinging = Array.from({ length: 32 }, (_, i) => (i % 2 === 1 ? 1_000 : 1_010));
  await storeLine(db, line, swinging);
  const { limit, fence, from } = (await noiseOf("instructions")) ?? {};
  await storeFigures(db, { artifact: nth(line, 33), values: { instructions: 1_005 } });

  const { cases } = await db.transaction(async (tx) =>
    readComparison(tx, await resolveComparison(tx, { suite: "demo", after: "n33" })),
  );

  const { evidence } = cases[0] ?? {};
  expect(from).toBe("history");
  expect(fence).toBe(limit);
  expect(evidence?.by === "fence" ? evidence.threshold : 0).toBe(limit);
});

test("kinds of machines are listed separately, and a metric without values is not listed", async () => {
  const line = await aLine(db, 1);
  const artifact = nth(line, 1);
  await storeFigures(db, { artifact, values: { instructions: 1_000 } });
  await storeFigures(db, { artifact, values: { "wall-time": 1 }, fingerprint: "two" });

  const { machines } = await noise();

  expect(machines.map(({ fingerprint }) => fingerprint)).toEqual(["two", "one"]);
  expect(machines.map(({ metrics }) => metrics.map(({ metric }) => metric.name))).toEqual([
    ["wall-time"],
    ["instructions"],
  ]);
  expect(machines[1]).toMatchObject({ collectors: ["c1"], newest: "n1" });
});
