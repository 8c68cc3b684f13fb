import { expect, test } from "vitest";
import { bootstrapInterval, drawnTimes, expandedTail } from "./bootstrap.ts";
import { resampledPseudoMedian, walshAverages } from "./hodges-lehmann.ts";
import { normal, seededRandom } from "./seeded-random.ts";

const interval = (values: number[], seed: number | string) => {
  const averages = walshAverages(values);
  return bootstrapInterval(values.length, resampledPseudoMedian(averages), {
    seed,
    level: 0.99,
  });
};

test("the same seed gives the same interval; another seed gives another one", () => {
  const values = [1, 5, 2, 8, 3, 9, 4, 7, 6, 2.5, 3.5, 11];

  expect(interval(values, "a")).toEqual(interval(values, "a"));
  expect(interval(values, "a")).not.toEqual(interval(values, "b"));
});

test("each draw takes as many units as there are", () => {
  const times = drawnTimes(7, 50, 3);

  for (let r = 0; r < 50; r++) {
    expect(times.subarray(r * 7, r * 7 + 7).reduce((sum, each) => sum + each, 0)).toBe(7);
  }
});

test.each([5, 10, 20])(
  "an interval of %i values misses the true value about once in a hundred",
  (size) => {
    const random = seededRandom(size);
    let missed = 0;
    for (let trial = 0; trial < 400; trial++) {
      const { low, high } = interval(
        Array.from({ length: size }, () => normal(random)),
        trial,
      );
      if (low > 0 || high < 0) missed++;
    }

    // With five values, even the range of all values contains the true value in at most 94 of 100 cases.
    expect(missed / 400).toBeLessThan(size === 5 ? 0.1 : 0.025);
  },
);

test("fewer units give a wider interval", () => {
  expect(expandedTail(5, 0.99)).toBeLessThan(expandedTail(20, 0.99));
  expect(expandedTail(2_000, 0.99)).toBeCloseTo(0.005, 4);
});
