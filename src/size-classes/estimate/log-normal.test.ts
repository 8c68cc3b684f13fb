import { expect, test } from "vitest";
import { above, mean, meanAbove, quantile, tail } from "./log-normal.ts";

// From tables of the normal distribution.
test.each([
  { z: 0, expected: 0.5 },
  { z: 1, expected: 0.158655 },
  { z: 1.6449, expected: 0.049996 },
  { z: -1, expected: 0.841345 },
  { z: 3.0902, expected: 0.001 },
  { z: 100, expected: 0 },
])("more than $z deviations above the mean are $expected of all", ({ z, expected }) => {
  expect(above(z)).toBeCloseTo(expected, 5);
});

test("no value exceeds an infinite limit, and all exceed zero", () => {
  expect(tail({ mu: 20, sigma: 1 }, Number.POSITIVE_INFINITY)).toBe(0);
  expect(tail({ mu: 20, sigma: 1 }, 0)).toBe(1);
});

test("half exceed the median, and their mean is above it and above the mean of all", () => {
  const spread = { mu: Math.log(10), sigma: 0.5 };

  expect(tail(spread, 10)).toBeCloseTo(0.5, 6);
  expect(quantile(spread, 0)).toBeCloseTo(10, 9);
  // E[X | X > e^mu] = 2 · mean · Phi(sigma)
  expect(meanAbove(spread, 10)).toBeCloseTo(2 * mean(spread) * (1 - above(0.5)), 6);
});

test("for a large limit, the mean of the values above it is near it", () => {
  expect(meanAbove({ mu: 0, sigma: 0.1 }, 1_000)).toBeCloseTo(1_025, 0);
});
