import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { desiredWorkers, type ScalingSettings, type ScalingSituation } from "./desired-workers.ts";

const settings: ScalingSettings = {
  targetWaitMs: 60_000,
  startDelayMs: 60_000,
  scaleDownMs: 300_000,
};

/** A class without workers and executions, observed for long, by default. */
const situation = (changes: Partial<ScalingSituation> = {}): ScalingSituation => ({
  least: 0,
  most: undefined,
  slotsPerWorker: 1,
  up: 0,
  busyWorkers: 0,
  held: 0,
  remainingMs: 0,
  waiting: [],
  arrivals: { perSecond: 0, eachMs: 10_000 },
  wantedLately: 0,
  isWatched: true,
  ...changes,
});
const desired = (changes: Partial<ScalingSituation> = {}) =>
  desiredWorkers(situation(changes), settings).desired;
const waiting = (executions: number, eachMs: number, dueInMs = 0) => [
  { executions, eachMs, dueInMs },
];

test.each([
  { what: "nothing", given: {}, workers: 0 },
  { what: "nothing, with a least number", given: { least: 3 }, workers: 3 },
  { what: "one that waits", given: { waiting: waiting(1, 500) }, workers: 1 },
  {
    what: "as many short ones as fit into the target",
    given: { waiting: waiting(60, 1_000) },
    workers: 1,
  },
  { what: "one more than that", given: { waiting: waiting(61, 1_000) }, workers: 2 },
  { what: "long ones: each needs a slot", given: { waiting: waiting(7, 3_600_000) }, workers: 7 },
  {
    what: "long ones, four slots a worker",
    given: { waiting: waiting(7, 3_600_000), slotsPerWorker: 4 },
    workers: 2,
  },
  {
    what: "long ones beside one that runs on",
    given: {
      waiting: waiting(2, 3_600_000),
      up: 1,
      busyWorkers: 1,
      held: 1,
      remainingMs: 3_600_000,
    },
    workers: 3,
  },
  {
    what: "one that waits while another soon ends",
    given: { waiting: waiting(1, 5_000), up: 1, busyWorkers: 1, held: 1, remainingMs: 5_000 },
    workers: 1,
  },
  { what: "more than the most", given: { waiting: waiting(7, 3_600_000), most: 5 }, workers: 5 },
  {
    what: "low priority: ten minutes have room for more",
    given: { waiting: waiting(60, 10_000, 540_000) },
    workers: 1,
  },
  {
    what: "the same once it has waited as long as that",
    given: { waiting: waiting(60, 10_000, -10_000) },
    workers: 10,
  },
  {
    what: "low priority, but so long that each needs a slot all the same",
    given: { waiting: waiting(4, 3_600_000, 540_000) },
    workers: 4,
  },
  {
    what: "what arrives keeps as many slots busy as Little's law says",
    given: { arrivals: { perSecond: 2, eachMs: 5_000 } },
    workers: 10,
  },
  {
    what: "an arrival a while ago",
    given: { arrivals: { perSecond: 1 / 300, eachMs: 10_000 } },
    workers: 0,
  },
  { what: "none needed now, but a moment ago", given: { up: 4, wantedLately: 4 }, workers: 4 },
  { what: "none needed for a long time", given: { up: 4, wantedLately: 0 }, workers: 0 },
  { what: "a server that has just begun to look", given: { up: 4, isWatched: false }, workers: 4 },
])("$what: $workers", ({ given, workers }) => {
  expect(desired(given)).toBe(workers);
});

describe("the reason", () => {
  test.each([
    { given: {}, says: "nothing runs and nothing waits" },
    {
      given: { least: 2 },
      says: "nothing runs and nothing waits; 2 is the declared minimum",
    },
    {
      given: { waiting: waiting(90, 2_000) },
      says: "nothing runs and 90 executions of about 2 s wait, to start within 60 s of their time",
    },
    {
      given: {
        waiting: waiting(1, 600_000),
        up: 1,
        busyWorkers: 1,
        held: 1,
        remainingMs: 600_000,
        most: 1,
      },
      says: "1 execution runs and 1 execution of about 10 min waits, to start within 60 s of their time; 2 workers would be needed, 1 is the declared maximum",
    },
    {
      given: { arrivals: { perSecond: 2, eachMs: 4_000 }, slotsPerWorker: 4 },
      says: "nothing runs and nothing waits; 2.0 per second of about 4 s arrive, and a worker takes 60 s to start, 8 slots at 4 per worker",
    },
    {
      given: { up: 3, wantedLately: 3 },
      says: "nothing runs and nothing waits; 3 were wanted within the last 5 min",
    },
    {
      given: { up: 3, isWatched: false },
      says: "nothing runs and nothing waits; the 3 that are there are kept until this server has looked for 5 min",
    },
    {
      given: { up: 1, isWatched: false },
      says: "nothing runs and nothing waits; the one that is there is kept until this server has looked for 5 min",
    },
  ])("$says", ({ given, says }) => {
    expect(desiredWorkers(situation(given), settings).reason).toBe(says);
  });
});

describe("by its invariants", () => {
  const each = fc.record({
    executions: fc.nat(100_000),
    eachMs: fc.double({ min: 1, max: 7_200_000, noNaN: true }),
    dueInMs: fc.integer({ min: -7_200_000, max: 7_200_000 }),
  });
  const any: fc.Arbitrary<ScalingSituation> = fc
    .record({
      least: fc.nat(20),
      extra: fc.option(fc.nat(200), { nil: undefined }),
      slotsPerWorker: fc.integer({ min: 1, max: 16 }),
      idle: fc.nat(50),
      busyWorkers: fc.nat(50),
      eachHeld: fc.integer({ min: 1, max: 16 }),
      eachRemainingMs: fc.nat(7_200_000),
      waiting: fc.array(each, { maxLength: 8 }),
      perSecond: fc.double({ min: 0, max: 100, noNaN: true }),
      eachMs: fc.double({ min: 1, max: 600_000, noNaN: true }),
      wantedLately: fc.nat(200),
      isWatched: fc.boolean(),
    })
    .map(({ extra, idle, eachHeld, eachRemainingMs, perSecond, eachMs, ...rest }) => ({
      ...rest,
      most: extra === undefined ? undefined : rest.least + extra,
      up: idle + rest.busyWorkers,
      held: rest.busyWorkers * eachHeld,
      remainingMs: rest.busyWorkers * eachHeld * eachRemainingMs,
      arrivals: { perSecond, eachMs },
    }));
  const wantedIn = (given: ScalingSituation) => desiredWorkers(given, settings);

  test("it is an integer between the minimum and the maximum, with a reason", () => {
    fc.assert(
      fc.property(any, (given) => {
        const { desired: number, reason } = wantedIn(given);
        expect(Number.isInteger(number)).toBe(true);
        expect(number).toBeGreaterThanOrEqual(given.least);
        expect(number).toBeLessThanOrEqual(given.most ?? Number.POSITIVE_INFINITY);
        expect(reason).not.toMatch(/NaN|undefined|Infinity/);
      }),
    );
  });

  test("no worker with a lease is released, except above the maximum", () => {
    fc.assert(
      fc.property(any, (given) => {
        const least = Math.min(given.busyWorkers, given.most ?? Number.POSITIVE_INFINITY);
        expect(wantedIn(given).desired).toBeGreaterThanOrEqual(least);
      }),
    );
  });

  test("more waiting executions never reduce the number", () => {
    fc.assert(
      fc.property(any, each, (given, more) => {
        const after = wantedIn({ ...given, waiting: [...given.waiting, more] });
        expect(after.desired).toBeGreaterThanOrEqual(wantedIn(given).desired);
      }),
    );
  });

  test("executions that have waited never reduce the number", () => {
    fc.assert(
      fc.property(any, fc.nat(3_600_000), (given, ms) => {
        const older = given.waiting.map((one) => ({ ...one, dueInMs: one.dueInMs - ms }));
        const after = wantedIn({ ...given, waiting: older, arrivals: { perSecond: 0, eachMs: 1 } });
        const before = wantedIn({ ...given, arrivals: { perSecond: 0, eachMs: 1 } });
        expect(after.desired).toBeGreaterThanOrEqual(before.desired);
      }),
    );
  });

  test("there are no more slots than present and expected executions", () => {
    fc.assert(
      fc.property(any, (given) => {
        const queued = given.waiting.reduce((sum, { executions }) => sum + executions, 0);
        const { perSecond, eachMs } = given.arrivals;
        const coming = (perSecond * Math.max(settings.startDelayMs, eachMs)) / 1_000;
        const { wanted } = wantedIn(given);
        expect(wanted).toBeLessThanOrEqual(
          Math.max(given.busyWorkers, Math.ceil(given.held + queued + coming)),
        );
      }),
    );
  });

  test("without executions, arrivals and a minimum, the number is zero", () => {
    fc.assert(
      fc.property(any, (given) => {
        const quiet = {
          ...given,
          least: 0,
          busyWorkers: 0,
          held: 0,
          remainingMs: 0,
          waiting: [],
          arrivals: { perSecond: 0, eachMs: 1 },
          wantedLately: 0,
          isWatched: true,
        };
        expect(wantedIn(quiet).desired).toBe(0);
      }),
    );
  });
});
