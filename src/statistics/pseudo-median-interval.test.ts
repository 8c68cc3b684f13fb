import fc from "fast-check";
import { expect, test } from "vitest";
import { bootstrapInterval } from "./bootstrap.ts";
import { pseudoMedian, resampledPseudoMedian, walshAverages } from "./hodges-lehmann.ts";
import { pseudoMedianInterval } from "./pseudo-median-interval.ts";
import { exponential, normal, seededRandom } from "./seeded-random.ts";

/** Computes every draw completely and sorts all of them, which is the definition. */
function reckonedThrough(values: readonly number[]) {
  const averages = walshAverages(values);
  const interval = bootstrapInterval(values.length, resampledPseudoMedian(averages), {
    seed: "s",
    level: 0.99,
  });
  return { point: pseudoMedian(averages), ...interval };
}

/** Returns the largest difference between the two methods, relative to the values. */
function differenceOver(values: readonly number[]): number {
  const quick = pseudoMedianInterval(values, { seed: "s", level: 0.99 });
  const slow = reckonedThrough(values);
  const scale = Math.max(...values.map(Math.abs), Number.MIN_VALUE);
  const ends = ["point", "low", "high"] as const;
  return Math.max(...ends.map((end) => Math.abs(quick[end] - slow[end]) / scale));
}

test.each([1, 2, 3, 5, 10, 20, 40])(
  "with %i values it equals the interval of all draws",
  (count) => {
    const random = seededRandom(count);
    for (let trial = 0; trial < 20; trial++) {
      const even = Array.from({ length: count }, () => normal(random));
      const lopsided = Array.from({ length: count }, () => exponential(random, 1) ** 3);
      expect(differenceOver(even)).toBeLessThan(1e-12);
      expect(differenceOver(lopsided)).toBeLessThan(1e-12);
    }
  },
);

test("also with ties, outliers and any signs", () => {
  const value = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    fc.constantFrom(0, 1e300, -1e300),
  );
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 22 }), (values) => {
      expect(differenceOver(values)).toBeLessThan(1e-12);
    }),
    { numRuns: 60 },
  );
});

test("more values than a byte can count are computed completely", () => {
  const random = seededRandom("many");

  expect(differenceOver(Array.from({ length: 256 }, () => normal(random)))).toBe(0);
});

test("has no width for equal values", () => {
  expect(pseudoMedianInterval([7, 7, 7, 7, 7], { seed: 1, level: 0.99 })).toEqual({
    point: 7,
    low: 7,
    high: 7,
  });
});
