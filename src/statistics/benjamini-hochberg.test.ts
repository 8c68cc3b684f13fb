import fc from "fast-check";
import { expect, test } from "vitest";
import { benjaminiHochberg } from "./benjamini-hochberg.ts";

const ps = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 });

test("never decreases a p-value, and keeps their order", () => {
  fc.assert(
    fc.property(ps, (given) => {
      const adjusted = benjaminiHochberg(given);
      given.forEach((p, i) => {
        expect(adjusted[i]).toBeGreaterThanOrEqual(p);
        expect(adjusted[i]).toBeLessThanOrEqual(1);
        const greater = adjusted.filter((_, j) => p < (given[j] ?? 0));
        expect(Math.min(1, ...greater)).toBeGreaterThanOrEqual(adjusted[i] ?? 1);
      });
    }),
  );
});

test("one more insignificant case improves no other case", () => {
  fc.assert(
    fc.property(ps, (given) => {
      const alone = benjaminiHochberg(given);
      const together = benjaminiHochberg([...given, 1]);
      alone.forEach((p, i) => expect(together[i]).toBeGreaterThanOrEqual(p - 1e-15));
    }),
  );
});

test("leaves a single p-value unchanged, and accepts an empty list", () => {
  expect(benjaminiHochberg([0.03])).toEqual([0.03]);
  expect(benjaminiHochberg([])).toEqual([]);
});
