import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { ReportSelfTest } from "#api/collector.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aCollector, aLabServer } from "../jobs/lab-driver.fixture.ts";
import { labTimes } from "../lab-times.ts";
import { aLab, emptyLab } from "../perf.fixture.ts";
import { changeCollector } from "./change-register.ts";
import { collectorViews } from "./collector-views.ts";
import { type Duty, dutyAfterTest, judgeSelfTest } from "./judge-self-test.ts";
import { reportSelfTest } from "./report-self-test.ts";
import { selfTestDue } from "./self-test-due.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => emptyLab(db));

test.each([
  [0, 100, true],
  [6, 100, true],
  [7, 100, false],
  // One in a few is chance, but three in twenty are not.
  [1, 1, true],
  [1, 49, true],
  [2, 20, true],
  [3, 20, false],
  [2_100, 100_000, true],
  [2_200, 100_000, false],
  [100_000, 100_000, false],
  // A test without comparisons is no failure.
  [0, 0, true],
])("%i alarms in %i comparisons: passed is %s", (alarms, comparisons, passed) => {
  expect(judgeSelfTest({ alarms, comparisons }).passed).toBe(passed);
});

const failed = judgeSelfTest({ alarms: 9, comparisons: 100 });
const passed = judgeSelfTest({ alarms: 0, comparisons: 100 });
const inDuty: Duty = { outOfDuty: null, outOfDutyByTest: false };

test("a test takes a collector out of duty and puts it back, and does not change what a person set", () => {
  const out = dutyAfterTest(inDuty, failed);
  expect(out).toEqual({
    outOfDuty:
      "its self-test raised 9 alarms in 100 comparisons of an artifact with itself (9.0 %; with the allowed rate of 2 %, chance does not explain this)",
    outOfDutyByTest: true,
  });
  expect(dutyAfterTest(out, passed)).toEqual(inDuty);
  const said: Duty = { outOfDuty: "a fan is broken", outOfDutyByTest: false };
  expect(dutyAfterTest(said, passed)).toBe(said);
  expect(dutyAfterTest(said, failed)).toBe(said);
});

test("a test that compared nothing changes no duty", () => {
  const nothing = judgeSelfTest({ alarms: 0, comparisons: 0 });
  const out = dutyAfterTest(inDuty, failed);
  expect(dutyAfterTest(inDuty, nothing)).toBe(inDuty);
  expect(dutyAfterTest(out, nothing)).toBe(out);
});

test.each([
  [undefined, true],
  [{ ageMs: labTimes.selfTestEveryMs - 1, passed: true }, false],
  [{ ageMs: labTimes.selfTestEveryMs, passed: true }, true],
  [{ ageMs: labTimes.failedSelfTestEveryMs, passed: false }, true],
  [{ ageMs: labTimes.failedSelfTestEveryMs - 1, passed: false }, false],
])("after %j a self-test is due: %s", (last, due) => {
  const now = new Date("2026-06-01T00:00:00Z");
  const at = (ageMs: number) => new Date(now.getTime() - ageMs);
  const told = last && { at: at(last.ageMs), passed: last.passed };
  expect(selfTestDue(told, now, labTimes)).toBe(due);
});

test("a collector whose self-test fails gets no work until one passes", async () => {
  const server = aLabServer(db);
  const collector = await aCollector(server);
  const tell = (alarms: number, incarnation = collector.incarnation) => {
    const report = ReportSelfTest.parse({ incarnation, comparisons: 100, alarms });
    return db.transaction((tx) => reportSelfTest(tx, collector.name, report, server.clock.now()));
  };
  const dueIs = async () => (await server.claim(collector.name, collector.incarnation)).selfTestDue;

  expect(await dueIs()).toBe(true);
  await aLab(db);
  expect(await tell(9)).toMatchObject({ passed: false, outOfDuty: expect.any(String) });
  const held = await collector.claim();
  expect(held).toBeNull();
  expect(await collector.because()).toContain("raised 9 alarms in 100 comparisons");
  expect(await dueIs()).toBe(false);
  const [view] = await collectorViews(db, server.clock.now(), labTimes);
  expect(view).toMatchObject({
    state: "out-of-duty",
    selfTest: { passed: false, comparisons: 100, alarms: 9 },
  });
  server.clock.pass(labTimes.failedSelfTestEveryMs);
  expect(await dueIs()).toBe(true);
  expect(await tell(1)).toEqual({ passed: true, outOfDuty: null });
  expect(await collector.claim()).not.toBeNull();
  await expect(tell(0, randomUUID())).rejects.toMatchObject({ code: "aborted" });
});

test("a collector that a person took out of duty stays out of duty", async () => {
  const server = aLabServer(db);
  const { name, incarnation } = await aCollector(server);
  await db.transaction((tx) => changeCollector(tx, name, { outOfDuty: "a fan is broken" }));
  const report = ReportSelfTest.parse({ incarnation, comparisons: 100, alarms: 0 });

  const told = await db.transaction((tx) => reportSelfTest(tx, name, report, server.clock.now()));

  expect(told).toEqual({ passed: true, outOfDuty: "a fan is broken" });
});

test("noise is stored once for each case and metric, and only for those of a suite", async () => {
  await aLab(db);
  const server = aLabServer(db);
  const { name, incarnation, claim } = await aCollector(server);
  const testCase = (await claim())?.cases[0]?.case;
  if (testCase === undefined) throw new Error("no job");
  const tell = (changes: object) => {
    const noise = [
      { suite: "demo", case: testCase, metric: "instructions", change: 0.01, ...changes },
    ];
    const detail = { artifact: "5.9.3" };
    const counts = { incarnation, comparisons: 10, alarms: 0, detail };
    const report = ReportSelfTest.parse({ ...counts, noise });
    return db.transaction((tx) => reportSelfTest(tx, name, report, server.clock.now()));
  };
  await tell({});
  await tell({});

  expect(
    await db.many(z.object({ change: z.number() }), sql`select change from benchmark_noise`),
  ).toEqual([{ change: 0.01 }]);
  for (const wrong of [
    { suite: "other" },
    { metric: "taste" },
    { case: { ...testCase, benchmark: "omega" } },
  ])
    await expect(tell(wrong)).rejects.toMatchObject({ code: "invalid_argument" });
});
