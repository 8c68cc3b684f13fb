import { expect, test } from "vitest";
import type { KeyHistory } from "../key-history.ts";
import { type Estimate, estimate, moreThan } from "./estimate.ts";
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

// Observed on one class only; the others follow from CPU time: within a tenth, except outside of the observed range.
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

test("a run on one CPU shows the amount of work, but not how it scales", () => {
  const given = known(history("action", times(8, parallel, 1)));

  expect(expectedOn(given, 1) / 40_000).toBeCloseTo(1, 1);
  expect(expectedOn(given, 8)).toBeGreaterThan(durationOn(parallel, 8) * 2);
});

test("runs on two classes agree about one action", () => {
  const both = known(history("action", [...times(4, parallel, 2), ...times(4, parallel, 8, 5)]));

  for (const sizeClass of [1, 2, 4, 8])
    expect(expectedOn(both, sizeClass) / durationOn(parallel, sizeClass)).toBeCloseTo(1, 1);
});

test("a new action is expected to be like its kind, and its own first run has more weight", () => {
  const kind = history("mnemonic", times(20, { serialMs: 60_000 }, 1));

  const before = known(history("action", []), kind);
  const after = known(history("action", [ran({ serialMs: 2_000 }, 1, 30)]), kind);

  expect(expectedOn(before, 1)).toBeGreaterThan(40_000);
  expect(expectedOn(after, 1)).toBeLessThan(5_000);
});

test("without CPU times, durations on several classes show how it scales", () => {
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

test.each([
  { runs: 2, least: 60_000 },
  { runs: 3, least: 75_000 },
])("after $runs runs that do five times as much, the next is expected to", ({ runs, least }) => {
  const given = known(
    history("action", [...times(10, serial, 2), ...times(runs, { serialMs: 100_000 }, 2, 20)]),
  );

  expect(expectedOn(given, 1)).toBeGreaterThan(least);
});

const light: Work = { serialMs: 2_000 };

/** Two runs with much work, three with little, and so on, the latest last. */
function alternating(rounds: number) {
  return Array.from({ length: rounds }, (_, round) => [
    ...times(2, parallel, 8, 1 + 5 * round),
    ...times(3, light, 2, 3 + 5 * round),
  ]).flat();
}

test("alternating regimes stay a mixture, whichever was last", () => {
  const runs = alternating(6);
  const mean = (2 * durationOn(parallel, 1) + 3 * durationOn(light, 1)) / 5;

  for (const last of [0, 1, 2, 3, 4]) {
    const given = known(history("action", runs.slice(0, runs.length - last)));

    expect(expectedOn(given, 1) / mean).toBeGreaterThan(0.3);
    expect(expectedOn(given, 1) / mean).toBeLessThan(2.2);
  }
});

test("each regime scales separately", () => {
  const given = known(history("action", alternating(6)));

  const [least, greatest] = given.parts.map(({ expectedMs, scalings }) => ({
    expectedMs,
    serial: scalings[0] ?? 0,
  }));
  expect(least?.serial).toBeGreaterThan(0.9);
  expect(greatest?.serial).toBeLessThan(0.01);
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
const large: Work = { ...serial, peakMemoryBytes: 12 * GiB };
/** An execution that had too little memory on class 1 and enough on class 4. */
const short = (number: number) => [
  ended("out_of_memory", 1, number, { peakMemoryBytes: 4 * GiB }),
  ran(large, 4, number + 0.5),
];

test("without other data, out of memory excludes a class and the smaller ones", () => {
  const given = known(history("action", [ended("out_of_memory", 2, 1)]));

  expect([1, 2].map((sizeClass) => riskOn(given, sizeClass))).toEqual([1, 1]);
  expect(riskOn(given, 8)).toBeLessThan(0.5);
});

test("one execution of many that ran out of memory gives the observed probability", () => {
  const given = known(history("action", [...times(18, small, 1), ...short(20)]));
  const later = known(history("action", [...times(18, small, 1), ...short(20), ran(small, 1, 22)]));

  expect(riskOn(given, 1)).toBeLessThan(0.6);
  expect(riskOn(later, 1)).toBeLessThan(0.12);
  expect(riskOn(given, 4)).toBeLessThan(0.1);
});

test("two consecutive executions that ran out of memory are a change", () => {
  const given = known(history("action", [...times(10, small, 1), ...short(20), ...short(22)]));

  expect(riskOn(given, 1)).toBeGreaterThan(0.7);
});

test("a hidden shortage counts with the memory that the retry needed", () => {
  const given = known(
    history("action", [
      ended("failed", 1, 1, { peakMemoryBytes: 3.9 * GiB }),
      ran(large, 4, 2),
      ended("failed", 1, 3, { peakMemoryBytes: 3.9 * GiB }),
      ran(large, 4, 4),
    ]),
  );

  expect(riskOn(given, 1)).toBeGreaterThan(0.9);
});

test("out of memory counts even without measured memory", () => {
  const unmeasured = [1, 2, 3].flatMap((i) => [
    ended("out_of_memory", 1, 10 * i, { peakMemoryBytes: undefined }),
    ran(small, 2, 10 * i + 1),
  ]);

  expect(riskOn(known(history("action", unmeasured)), 1)).toBe(1);
});

test("a class on which runs fail that then succeed on a larger one is risky", () => {
  const pairs = [1, 2, 3].flatMap((i) => [
    ended("failed", 1, 10 * i),
    ran(parallel, 8, 10 * i + 1),
  ]);

  const given = known(history("action", pairs));

  expect(given.classes[0]?.slowRisk).toBeGreaterThan(0.7);
  expect(given.classes[3]?.slowRisk).toBe(0);
});

test("without data, most actions are small, and class 1 has enough memory", () => {
  const given = known();

  expect(expectedOn(given, 1)).toBeLessThan(10_000);
  expect(riskOn(given, 1)).toBeLessThan(0.02);
});

test("a risk is at most 1, even if shares add up to slightly more by rounding", () => {
  const spread = { mu: Math.log(32 * GiB), sigma: 0.1 };
  const needs = [0.05, 0.55, 0.3, 0.1].map((share) => ({ share, spread }));

  expect(moreThan(needs, 1)).toBe(1);
});
