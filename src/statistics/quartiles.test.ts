import { expect, test } from "vitest";
import { pseudoMedian, walshAverages } from "./hodges-lehmann.ts";
import { median, quantileOfSorted, rustcQuartiles } from "./quartiles.ts";
import { exponential, normal, seededRandom } from "./seeded-random.ts";
import { studentQuantile, studentTwoSided } from "./student-t.ts";

test("rustc-perf's quartiles of 29 values are the means of the 7th and 8th, and of the 22nd and 23rd", () => {
  const values = Array.from({ length: 29 }, (_, i) => (i + 1) ** 2);

  expect(rustcQuartiles(values)).toEqual({ q1: (49 + 64) / 2, q3: (484 + 529) / 2 });
});

test("with an even count they leave out both middle values", () => {
  expect(rustcQuartiles([1, 2, 3, 4, 5, 6, 7, 8])).toEqual({ q1: 2, q3: 7 });
});

test("fewer than three values have no quartiles", () => {
  expect(rustcQuartiles([1, 2])).toBeUndefined();
  expect(median([])).toBeNaN();
  expect(quantileOfSorted([], 0.5)).toBeNaN();
});

test("huge values do not overflow", () => {
  expect(median([1e308, 1.5e308])).toBeCloseTo(1.25e308, -300);
  expect(pseudoMedian(walshAverages([1.7e308, 1.7e308]))).toBe(1.7e308);
});

test("Student's tail is precise far from the middle", () => {
  // jStat returns 0 here.
  expect(studentTwoSided(20, 50) / 1.65e-25).toBeCloseTo(1, 1);
  expect(studentTwoSided(studentQuantile(0.01, 4), 4)).toBeCloseTo(0.01, 12);
  expect(studentQuantile(0.01, 4)).toBeCloseTo(4.604095, 6);
});

test("equal seeds give equal numbers, numbers are uniform, and similar seeds give different numbers", () => {
  const first = Array.from({ length: 5 }, seededRandom("run 1"));
  expect(Array.from({ length: 5 }, seededRandom("run 1"))).toEqual(first);
  expect(Array.from({ length: 5 }, seededRandom("run 2"))).not.toEqual(first);
  const random = seededRandom(1);
  const bins = Array.from({ length: 10 }, () => 0);
  for (let i = 0; i < 20_000; i++) {
    const bin = Math.floor(random() * 10);
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  // Six standard deviations of 2,000 ± 42.
  for (const bin of bins) expect(Math.abs(bin - 2_000)).toBeLessThan(255);
  const mean = (draw: () => number) =>
    Array.from({ length: 20_000 }, draw).reduce((a, b) => a + b) / 20_000;
  expect(mean(() => normal(random))).toBeCloseTo(0, 1);
  expect(mean(() => exponential(random, 3))).toBeCloseTo(3, 0);
});
