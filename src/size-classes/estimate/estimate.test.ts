import { expect, test } from "vitest";
import type { KeyHistory } from "../key-history.ts";
import { type Estimate, estimate } from "./estimate.ts";
import {
  durationOn,
  ended,
  GiB,
  history,
  ran,
  seedClasses,
  times,
  type Work,
} from "./runs.fixture.ts";

const hour = 3_600_000;

function known(...histories: readonly KeyHistory[]): Estimate {
  return estimate(histories, seedClasses, hour);
}

function expectedOn(given: Estimate, sizeClass: number): number {
  return (
    given.classes.find(({ offered }) => offered.sizeClass === sizeClass)?.expectedMs ?? Number.NaN
  );
}

function riskOn(given: Estimate, sizeClass: number): number {
  return (
    given.classes.find(({ offered }) => offered.sizeClass === sizeClass)?.memoryRisk ?? Number.NaN
  );
}

const serial: Work = { serialMs: 20_000 };
const parallel: Work = { serialMs: 2_000, parallelMs: 38_000, width: 32 };
const narrow: Work = { serialMs: 1_000, parallelMs: 30_000, width: 4 };

// Seen on one class only; the others follow from CPU time. Within a tenth, but for what lies beyond what was seen.
test.each([
  { name: "a serial action", work: serial, seenOn: 4, asked: [1, 2, 4, 8] },
  { name: "a parallel action", work: parallel, seenOn: 8, asked: [1, 2, 4, 8] },
  { name: "a parallel action of width 4", work: narrow, seenOn: 4, asked: [1, 2, 4] },
])(
  "eight runs of $name on class $seenOn tell how long it runs on classes $asked",
  ({ work, seenOn, asked }) => {
    const given = known(history("action", times(8, work, seenOn)));

    for (const sizeClass of asked) {
      const ratio = expectedOn(given, sizeClass) / durationOn(work, sizeClass);
      expect(ratio).toBeGreaterThan(0.85);
      expect(ratio).toBeLessThan(1.2);
    }
  },
);

test("a run on one CPU says how much work it is, and nothing of how it scales", () => {
  const given = known(history("action", times(8, parallel, 1)));

  expect(expectedOn(given, 1) / 40_000).toBeCloseTo(1, 1);
  expect(expectedOn(given, 8)).toBeGreaterThan(durationOn(parallel, 8) * 2);
});

test("runs on two classes agree about one action", () => {
  const both = known(history("action", [...times(4, parallel, 2), ...times(4, parallel, 8, 5)]));

  for (const sizeClass of [1, 2, 4, 8])
    expect(expectedOn(both, sizeClass) / durationOn(parallel, sizeClass)).toBeCloseTo(1, 1);
});

test("a new action is expected to be like its kind, and its own first run counts more", () => {
  const kind = history("mnemonic", times(20, { serialMs: 60_000 }, 1));

  const before = known(history("action", []), kind);
  const after = known(history("action", [ran({ serialMs: 2_000 }, 1, 30)]), kind);

  expect(expectedOn(before, 1)).toBeGreaterThan(40_000);
  expect(expectedOn(after, 1)).toBeLessThan(5_000);
});

test("without CPU times, durations on several classes tell how it scales", () => {
  const unmeasured = [1, 8].flatMap((sizeClass) =>
    times(5, parallel, sizeClass, sizeClass).map(
      ([on, { end, durationMs, timeoutMs, at }]) =>
        [on, { end, durationMs, timeoutMs, at }] as const,
    ),
  );

  const given = known(history("action", unmeasured));

  expect(expectedOn(given, 8) / durationOn(parallel, 8)).toBeCloseTo(1, 1);
  expect(expectedOn(given, 1) / durationOn(parallel, 1)).toBeCloseTo(1, 1);
});

test("a change of what it does is followed after two runs", () => {
  const given = known(
    history("action", [...times(10, serial, 2), ...times(2, { serialMs: 100_000 }, 2, 20)]),
  );

  expect(expectedOn(given, 1)).toBeGreaterThan(80_000);
});

test.each([
  { peak: 0.1 * GiB, on: 1, least: 0, most: 0.001 },
  { peak: 3.9 * GiB, on: 1, least: 0.3, most: 1 },
  { peak: 3.9 * GiB, on: 2, least: 0, most: 0.05 },
  { peak: 14 * GiB, on: 4, least: 0.1, most: 0.6 },
])(
  "with peaks of $peak bytes the risk on class $on is between $least and $most",
  ({ peak, on, least, most }) => {
    const given = known(history("action", times(5, { ...serial, peakMemoryBytes: peak }, 8)));

    expect(riskOn(given, on)).toBeGreaterThanOrEqual(least);
    expect(riskOn(given, on)).toBeLessThanOrEqual(most);
  },
);

const small: Work = { ...serial, peakMemoryBytes: GiB };
const outOfMemory = ended("out_of_memory", 2, 10, { peakMemoryBytes: 8 * GiB });

test("out of memory rules a class and the lesser ones out at once", () => {
  const given = known(history("action", [...times(5, small, 1), outOfMemory]));

  expect([1, 2].map((sizeClass) => riskOn(given, sizeClass))).toEqual([1, 1]);
  expect(riskOn(given, 8)).toBeLessThan(0.5);
});

test("a failure with all of the memory in use rules a class out like out of memory", () => {
  const failure = ended("failed", 1, 10, { peakMemoryBytes: 3.9 * GiB });

  expect(riskOn(known(history("action", [...times(5, small, 1), failure])), 1)).toBe(1);
});

test("a later success on the class takes that back", () => {
  const given = known(history("action", [...times(5, small, 1), outOfMemory, ran(small, 2, 11)]));

  expect(riskOn(given, 2)).toBeLessThan(1);
});

test("so do five successes elsewhere that needed far less, and four do not", () => {
  const after = (count: number) =>
    riskOn(known(history("action", [outOfMemory, ...times(count, small, 8, 11)])), 2);

  expect(after(4)).toBe(1);
  expect(after(5)).toBeLessThan(0.1);
});

test("classes that fail what a greater one then does are risky", () => {
  const pairs = [1, 2, 3].flatMap((i) => [
    ended("failed", 1, 10 * i),
    ran(parallel, 8, 10 * i + 1),
  ]);

  const given = known(history("action", pairs));

  expect(given.classes[0]?.slowRisk).toBeGreaterThan(0.7);
  expect(given.classes[3]?.slowRisk).toBe(0);
});

test("with nothing known, most actions are small, and class 1 has memory enough", () => {
  const given = known();

  expect(expectedOn(given, 1)).toBeLessThan(10_000);
  expect(riskOn(given, 1)).toBeLessThan(0.02);
});
