import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { emptyLab, labEpoch, storeJob, storeRequest } from "../perf.fixture.ts";
import { noiseOf } from "./evidence.store.ts";
import { aCase, aLine, nth, storeFigures, storeLine } from "./history.fixture.ts";
import { secondsOfBenchmarks } from "./set-durations.store.ts";

const db = await freshDb();
beforeEach(() => emptyLab(db));

/** Returns the existing artifacts. */
async function storeNoise(changes: readonly number[], from = labEpoch): Promise<number[]> {
  const cases = await db.many(z.object({ id: z.number() }), sql`select id from benchmark_case`);
  for (const [i, change] of changes.entries()) {
    await db.run(sql`
      insert into benchmark_noise (case_id, metric, environment_id, at, change)
      select ${cases[0]?.id}, 1, id, ${new Date(from.getTime() + i * 1_000)}, ${change} from benchmark_environment
    `);
  }
  const artifacts = await db.many(
    z.object({ id: z.number() }),
    sql`select id from benchmark_artifact`,
  );
  return artifacts.map(({ id }) => id);
}

test("noise is the limit that 19 of 20 comparisons of equal artifacts do not reach", async () => {
  await storeLine(db, await aLine(db, 1), [1]);
  const artifacts = await storeNoise(Array.from({ length: 20 }, (_, i) => (i + 1) / 100));

  const [noise, ...more] = await noiseOf(db, artifacts);

  expect(more).toEqual([]);
  // Between the 19th (.19) and the 20th (.20) value, at a twentieth of the distance.
  expect(noise?.change).toBeCloseTo(0.190_5, 12);
});

test("old noise is ignored", async () => {
  await storeLine(db, await aLine(db, 1), [1]);
  await storeNoise(Array.from({ length: 50 }, () => 0.5));
  const artifacts = await storeNoise(
    Array.from({ length: 200 }, () => 0.02),
    new Date(labEpoch.getTime() + 86_400_000),
  );

  expect((await noiseOf(db, artifacts))[0]?.change).toBeCloseTo(0.02, 12);
});

test("the duration of a benchmark is the time between the reports of its tests, including what no metric contains", async () => {
  const line = await aLine(db, 3);
  const seconds = (n: number) => new Date(labEpoch.getTime() + n * 1_000);
  const [alpha, emitted, beta] = [
    aCase(),
    aCase({ profile: "emit" }),
    aCase({ benchmark: "beta" }),
  ];
  // Three jobs; in the last, the collector was absent for an hour, during beta.
  const jobs = [
    { day: 1, at: [0, 10, 40] },
    { day: 2, at: [100, 112, 140] },
    { day: 3, at: [200, 214, 3_840] },
  ];
  for (const { day, at } of jobs) {
    const jobId = `00000000-0000-4000-8000-00000000000${day}`;
    for (const [i, testCase] of [alpha, emitted, beta].entries())
      await storeFigures(db, {
        artifact: nth(line, day),
        case: testCase,
        values: { instructions: 1 },
        jobId,
        at: seconds(at[i] ?? 0),
      });
  }

  const took = await secondsOfBenchmarks(db, "demo", "linux-x64");

  // alpha's second case took 10, 12 and 14 seconds; its first, whose duration is unknown, counts the same.
  expect([...took]).toEqual(
    expect.arrayContaining([
      ["alpha", 24],
      // 30, 28 and an hour.
      ["beta", 30],
    ]),
  );
  expect(took.size).toBe(2);
  expect(await secondsOfBenchmarks(db, "demo", "linux-arm64")).toEqual(new Map());
});

test("the duration of a single benchmark before a failed one is counted from the start of its job", async () => {
  const line = await aLine(db, 1);
  const artifact = nth(line, 1);
  const request = await storeRequest(db, { artifact });
  const [found] = await db.many(
    z.object({ digest: z.string() }),
    sql`select digest from benchmark_suite_version`,
  );
  const jobId = await storeJob(db, { request, artifact, digest: found?.digest ?? "" });
  await db.run(sql`update benchmark_job set started_at = ${labEpoch} where id = ${jobId}`);
  await storeFigures(db, {
    artifact,
    values: { instructions: 1 },
    jobId,
    at: new Date(labEpoch.getTime() + 17_000),
  });

  expect([...(await secondsOfBenchmarks(db, "demo", "linux-x64"))]).toEqual([["alpha", 17]]);
});
