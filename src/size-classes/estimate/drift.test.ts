import fc from "fast-check";
import { expect, test } from "vitest";
import { Drift } from "./drift.ts";

function followed(values: readonly number[]): Drift {
  const drift = new Drift(0.25);
  for (const value of values) drift.add(Math.log(value));
  return drift;
}

test("one run that is a hundred times longer moves little", () => {
  const before = followed([10, 10, 10, 10, 10, 10]);
  const after = followed([10, 10, 10, 10, 10, 10, 1_000]);

  expect(Math.exp(after.mu - before.mu)).toBeLessThan(1.25);
});

test.each([
  { now: 30, name: "longer" },
  { now: 3, name: "shorter" },
])("the second run in a row that is three times $name is believed", ({ now }) => {
  const drift = followed([10, 10.4, 9.8, 10, 10.1, 9.9, 10, 10, now, now]);

  expect(Math.exp(drift.mu)).toBeCloseTo(now, 6);
});

test("odd ones on both sides are no change", () => {
  const drift = followed([10, 10, 10, 10, 100, 1, 100, 1, 10]);

  expect(drift.changes).toBe(0);
});

test("what varies more is known less well", () => {
  const steady = followed([10, 10, 10, 10, 10, 10]);
  const varying = followed([10, 15, 7, 12, 6, 14]);

  expect(varying.variance).toBeGreaterThan(2 * steady.variance);
});

test("its middle is never outside of what it was told", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 1, max: 1e9, noNaN: true }), { minLength: 1 }), (all) => {
      const { mu, variance, weight } = followed(all);

      expect(mu).toBeGreaterThanOrEqual(Math.log(Math.min(...all)) - 1e-9);
      expect(mu).toBeLessThanOrEqual(Math.log(Math.max(...all)) + 1e-9);
      expect(variance).toBeGreaterThan(0);
      expect(weight).toBeLessThanOrEqual(5);
    }),
  );
});
