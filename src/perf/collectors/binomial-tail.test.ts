import fc from "fast-check";
import { expect, test } from "vitest";
import { binomialTail } from "./binomial-tail.ts";

test.each([
  // Computed by hand: 1 - 0.98 ** 20, and further terms of that.
  [1, 20, 0.332_392],
  [2, 20, 0.059_899],
  [3, 20, 0.007_069],
  [0, 20, 1],
  [21, 20, 0],
  [1, 1, 0.02],
  [2, 2, 0.000_4],
])("at least %i of %i at 2 % has the probability %d", (hits, trials, expected) => {
  expect(binomialTail(hits, trials, 0.02)).toBeCloseTo(expected, 5);
});

test("is a probability that decreases with the hits and increases with the trials, for any numbers", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20_000 }),
      fc.nat(600),
      fc.double({ min: 0.001, max: 0.5, noNaN: true }),
      (trials, hits, p) => {
        const tail = binomialTail(hits, trials, p);
        expect(tail).toBeGreaterThanOrEqual(0);
        expect(tail).toBeLessThanOrEqual(1 + 1e-9);
        expect(binomialTail(hits + 1, trials, p)).toBeLessThanOrEqual(tail + 1e-9);
        expect(binomialTail(hits, trials + 1, p)).toBeGreaterThanOrEqual(tail - 1e-9);
      },
    ),
    { numRuns: 50 },
  );
});
