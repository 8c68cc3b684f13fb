import fc from "fast-check";
import { expect, test } from "vitest";
import { combinedRegime, type Regimes, regimesOf } from "./regimes.ts";

function regimes(values: readonly number[], persistence = 0): Regimes {
  const logarithms = Float64Array.from(values, Math.log);
  return regimesOf(logarithms, new Float64Array(values.length).fill(1), persistence);
}

function shareOf(given: Regimes, value: number): number {
  const log = Math.log(value);
  return given.all.find(({ spread }) => Math.abs(spread.mu - log) < 0.35)?.share ?? 0;
}

test("values that vary little belong to one regime", () => {
  expect(regimes([10, 12, 9, 11, 14, 8]).all).toHaveLength(1);
});

test("one value that is a hundred times larger is as likely as it was frequent", () => {
  const given = regimes([10, 10, 10, 10, 10, 10, 10, 10, 10, 1_000]);

  expect(shareOf(given, 1_000)).toBeCloseTo(0.12, 1);
});

test.each([30, 3])(
  "the second consecutive value in a row of %i outweighs all earlier ones",
  (now) => {
    expect(shareOf(regimes([10, 10, 10, 10, 10, 10, 10, 10, now, now]), now)).toBeGreaterThan(0.5);
  },
);

test("a lasting regime is expected to last", () => {
  expect(shareOf(regimes([10, 10, 10, 10, 10, 1, 1, 1, 1, 1, 1]), 1)).toBeGreaterThan(0.8);
});

test("a regular successor is expected to follow", () => {
  const given = regimes([10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1]);

  expect(shareOf(given, 10)).toBeGreaterThan(0.8);
});

test("a new regime is expected to last with the given persistence", () => {
  expect(shareOf(regimes([10, 10, 10, 10, 10, 10, 10, 10, 10, 1_000], 0.5), 1_000)).toBeGreaterThan(
    0.5,
  );
});

test("a quantity that varies more is less certain", () => {
  const steady = combinedRegime(regimes([10, 10, 10, 10, 10, 10]).all);
  const varying = combinedRegime(regimes([10, 15, 7, 12, 6, 14]).all);

  expect(varying.sigma).toBeGreaterThan(1.4 * steady.sigma);
});

test("probabilities sum to one, and means are within the observed range", () => {
  const values = fc.array(fc.double({ min: 1, max: 1e13, noNaN: true }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (all, persistence) => {
      const given = regimes(all, persistence);

      expect(given.all.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6);
      for (const { share, weight } of given.all) {
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share === 0 || weight > 0).toBe(true);
        expect(weight).toBeLessThanOrEqual(5 + 1e-9);
      }
      for (const { spread } of given.all.filter(({ weight }) => weight > 0)) {
        expect(spread.mu).toBeGreaterThanOrEqual(Math.log(Math.min(...all)) - 1e-6);
        expect(spread.mu).toBeLessThanOrEqual(Math.log(Math.max(...all)) + 1e-6);
        expect(spread.sigma).toBeGreaterThan(0);
      }
    }),
  );
});
