import { beforeEach, describe, expect, test } from "vitest";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { emptyLab, labEpoch, storeArtifact } from "../perf.fixture.ts";
import { examineNext } from "./examine-artifact.ts";
import { aCase, aLine, nth, storeFigures, storeLine } from "./history.fixture.ts";
import { noteNewResults } from "./note-results.ts";
import { readSeries } from "./read-series.ts";
import { readSteps } from "./read-steps.ts";
import { storeChangePointStatement } from "./store-change-point-statement.ts";

const db = await freshDb();
beforeEach(() => emptyLab(db));

const later = (minutes: number) => new Date(labEpoch.getTime() + minutes * 60_000);

/** Varies by one in ten thousand, the same each time. */
const about = (level: number, length: number) =>
  Array.from({ length }, (_, i) => level * (1 + 0.000_1 * Math.sin(i * 1.7)));

async function examined(artifacts: readonly { readonly id: number }[], now = labEpoch) {
  await db.transaction((tx) =>
    noteNewResults(
      tx,
      artifacts.map(({ id }) => id),
      now,
    ),
  );
  while (await examineNext(db, now));
}

const steps = async () =>
  (
    await readSeries(db, { suite: "demo", case: aCase(), kind: "master", samples: false })
  ).changePoints.map(({ before, artifact, standing }) => ({ before, artifact, standing }));

const say = (artifact: string, standing: "found" | "accepted" | "dismissed") =>
  db.transaction((tx) =>
    storeChangePointStatement(
      tx,
      {
        suite: "demo",
        case: aCase(),
        metric: "instructions",
        fingerprint: "one",
        artifact,
        standing,
        note: null,
      },
      "ada",
      labEpoch,
    ),
  );

describe("the results of an artifact show", () => {
  test("a step, with the values on both sides", async () => {
    const line = await aLine(db, 30);
    await storeLine(db, line, [...about(1_000, 20), ...about(1_100, 10)]);

    await examined([nth(line, 30)]);

    expect(await steps()).toEqual([{ before: "n20", artifact: "n21", standing: "found" }]);
    const listed = await readSteps(db, {
      suite: "demo",
      since: labEpoch,
      standings: ["found"],
      most: 10,
    });
    expect(listed.steps).toMatchObject([
      { artifact: "n21", metric: "instructions", direction: "regressed", case: aCase() },
    ]);
    expect(listed.steps[0]?.change).toBeCloseTo(0.1, 3);
  });

  test("no step of a noisy metric that is within the noise of self-tests", async () => {
    const line = await aLine(db, 30);
    // Numbered before, so that no artifact has the number of the case.
    for (let n = 0; n < 40; n++)
      await storeFigures(db, {
        artifact: nth(line, 1),
        case: aCase({ benchmark: `b${n}` }),
        values: { instructions: 1 },
      });
    const levels = [...about(1, 20), ...about(1.03, 10)];
    for (const [i, value] of levels.entries())
      await storeFigures(db, { artifact: nth(line, i + 1), values: { "wall-time": value } });
    const stepsOfTime = async () => {
      const of = { suite: "demo", case: aCase(), metric: "wall-time" };
      const { changePoints } = await readSeries(db, { ...of, kind: "master", samples: false });
      return changePoints.length;
    };
    await examined([nth(line, 30)]);
    expect(await stepsOfTime()).toBe(1);

    await db.run(sql`
      insert into benchmark_noise (case_id, metric, environment_id, at, change)
      select benchmark_case.id, ordinal, environment.id, ${labEpoch}, 0.05
      from benchmark_case, benchmark_metric, benchmark_environment as environment
      where benchmark = 'alpha' and benchmark_metric.name = 'wall-time'
    `);
    await examined([nth(line, 30)], later(60));

    expect(await stepsOfTime()).toBe(0);
  });

  test("no step for one different value, until the next value", async () => {
    const line = await aLine(db, 32);
    await storeLine(db, line, [...about(1_000, 30), 1_100]);
    await examined([nth(line, 31)]);
    expect(await steps()).toEqual([]);

    await storeFigures(db, { artifact: nth(line, 32), values: { instructions: 1_100.1 } });
    await examined([nth(line, 32)]);

    expect(await steps()).toEqual([{ before: "n30", artifact: "n31", standing: "found" }]);
  });

  test("no step when only the machine changed", async () => {
    const line = await aLine(db, 40);
    await storeLine(db, line, about(1_000, 20), "one");
    const none = Array.from({ length: 20 }, () => undefined);
    await storeLine(db, line, [...none, ...about(2_000, 20)], "two");

    await examined([nth(line, 20), nth(line, 40)]);

    expect(await steps()).toEqual([]);
  });

  test("steps of each machine, on a line with gaps, an outlier and alternating machines", async () => {
    const line = await aLine(db, 60);
    const level = (day: number) => (day < 40 ? 1_000 : 1_100) * (1 + 0.000_1 * Math.sin(day * 1.7));
    const days = line.map((_, i) => i + 1);
    // Every fifth day has no measurement; the two machines differ in speed by a factor of two, and measure alternately.
    const measured = (day: number) => day % 5 !== 0;
    const onOne = (day: number) => day % 2 === 0;
    await storeLine(
      db,
      line,
      days.map((day) =>
        measured(day) && onOne(day) ? (day === 22 ? 1_500 : level(day)) : undefined,
      ),
    );
    await storeLine(
      db,
      line,
      days.map((day) => (measured(day) && !onOne(day) ? 2 * level(day) : undefined)),
      "two",
    );

    await examined([nth(line, 58), nth(line, 59)]);

    expect(await steps()).toEqual([
      { before: "n39", artifact: "n41", standing: "found" },
      { before: "n38", artifact: "n42", standing: "found" },
    ]);
  });

  test("that an earlier step does not exist", async () => {
    const line = await aLine(db, 48);
    await storeLine(db, line, [...about(1_000, 30), undefined, 1_100, undefined, 1_100.1]);
    await examined([nth(line, 34)]);
    expect(await steps()).toEqual([{ before: "n30", artifact: "n32", standing: "found" }]);

    // Measured late, between and after the two: each of them was isolated before.
    const days = [33, ...Array.from({ length: 14 }, (_, i) => 35 + i)];
    for (const day of days)
      await storeFigures(db, { artifact: nth(line, day), values: { instructions: 1_000 } });
    await examined(days.map((day) => nth(line, day)));

    expect(await steps()).toEqual([]);
  });
});

describe("the decision of a person about a step", () => {
  test("is kept when the step is found again, or one artifact later", async () => {
    const line = await aLine(db, 40);
    await storeLine(db, line, [...about(1_000, 20), ...about(1_100, 10)]);
    await examined([nth(line, 30)]);
    await say("n21", "dismissed");

    await storeLine(db, line.slice(30), about(1_100, 10));
    await examined(line.slice(30));

    expect(await steps()).toEqual([{ before: "n20", artifact: "n21", standing: "dismissed" }]);
  });

  test("can be withdrawn", async () => {
    const line = await aLine(db, 30);
    await storeLine(db, line, [...about(1_000, 20), ...about(1_100, 10)]);
    await examined([nth(line, 30)]);
    await say("n21", "accepted");

    await say("n21", "found");

    expect(await steps()).toEqual([{ before: "n20", artifact: "n21", standing: "found" }]);
  });
});

describe("the list of artifacts to examine", () => {
  test("is processed by two servers, each artifact by one of them", async () => {
    const line = await aLine(db, 6);
    await storeLine(db, line, about(1_000, 6));
    await db.transaction((tx) =>
      noteNewResults(
        tx,
        line.map(({ id }) => id),
        labEpoch,
      ),
    );

    const served = await Promise.all(Array.from({ length: 8 }, () => examineNext(db, labEpoch)));

    expect(served.filter(Boolean)).toHaveLength(6);
    expect(await examineNext(db, later(60))).toBe(false);
  });

  test("contains no releases and no try builds", async () => {
    await aLine(db, 1);
    const release = await storeArtifact(db, { tag: "5.9.3", kind: "release" });

    await db.transaction((tx) => noteNewResults(tx, [release.id], labEpoch));

    expect(await examineNext(db, labEpoch)).toBe(false);
  });

  test("keeps artifacts with results that are newer than the examination", async () => {
    const line = await aLine(db, 1);
    await storeLine(db, line, [1]);
    const note = () => db.transaction((tx) => noteNewResults(tx, [nth(line, 1).id], labEpoch));
    await note();
    const looking = examineNext(db, labEpoch);
    await note();
    await looking;

    // Whether the note came before or after the removal from the list, none of its artifacts is missed.
    await note();
    expect(await examineNext(db, labEpoch)).toBe(true);
    expect(await examineNext(db, labEpoch)).toBe(false);
  });
});
