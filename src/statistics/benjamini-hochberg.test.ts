import fc from "fast-check";
import { expect, test } from "vitest";
import { benjaminiHochberg } from "./benjamini-hochberg.ts";

const ps = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 });

test("never makes a p-value smaller, and keeps their order", () => {
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

test("one more hopeless case makes none look better", () => {
  fc.assert(
    fc.property(ps, (given) => {
      const alone = benjaminiHochberg(given);
      const together = benjaminiHochberg([...given, 1]);
      alone.forEach((p, i) => expect(together[i]).toBeGreaterThanOrEqual(p - 1e-15));
    }),
  );
});

test("leaves a single one as it is, and none alone", () => {
  expect(benjaminiHochberg([0.03])).toEqual([0.03]);
  expect(benjaminiHochberg([])).toEqual([]);
});
