import fc from "fast-check";
import { expect, test } from "vitest";
import { fasterProbability, transitions } from "./pagerank-comparison.ts";
import type { Outcomes } from "./pagerank-outcomes.ts";

// A few different times, so that many are equal.
const outcomes: fc.Arbitrary<Outcomes> = fc.record({
  successesMs: fc
    .array(fc.integer({ min: 0, max: 9 }), { maxLength: 32 })
    .map((times) => times.toSorted((a, b) => a - b)),
  failures: fc.integer({ min: 0, max: 32 }),
});

test("a certain loser after 32 outcomes each still gets 1.56 %", () => {
  const loser = { successesMs: [], failures: 32 };
  const winner = { successesMs: Array.from({ length: 32 }, () => 1), failures: 0 };

  expect(fasterProbability(loser, winner)).toBe(33 / 2114);
  expect(((33 / 2114) * 100).toFixed(2)).toBe("1.56");
});

test.each([
  { a: [1], b: [2], wanted: 4 / 6 },
  { a: [2], b: [2], wanted: 3 / 6 },
  { a: [3], b: [2], wanted: 2 / 6 },
  { a: [], b: [], wanted: 1 / 2 },
  { a: [], b: [1], wanted: 2 / 3 },
])("$a against $b: $wanted", ({ a, b, wanted }) => {
  expect(fasterProbability({ successesMs: a, failures: 0 }, { successesMs: b, failures: 0 })).toBe(
    wanted,
  );
});

test("is one half against itself", () => {
  fc.assert(
    fc.property(outcomes, (a) => {
      expect(fasterProbability(a, a)).toBe(0.5);
    }),
  );
});

test("either of two may be faster, and neither is certain", () => {
  fc.assert(
    fc.property(outcomes, outcomes, (a, b) => {
      const faster = fasterProbability(a, b);
      expect(faster + fasterProbability(b, a)).toBeCloseTo(1, 14);
      expect(faster).toBeGreaterThan(0);
      expect(faster).toBeLessThan(1);
    }),
  );
});

test("counts the pairs as in the formula", () => {
  fc.assert(
    fc.property(outcomes, outcomes, (a, b) => {
      const timesOf = ({ successesMs, failures }: Outcomes) => [
        ...successesMs,
        ...Array.from({ length: failures }, () => Number.POSITIVE_INFINITY),
      ];
      const [as, bs] = [timesOf(a), timesOf(b)];
      let points = 1 + bs.length;
      for (const x of as) for (const y of bs) points += x < y ? 2 : x === y ? 1 : 0;

      expect(fasterProbability(a, b)).toBe(
        points / (2 + as.length + bs.length + 2 * as.length * bs.length),
      );
    }),
  );
});

test("the transitions of each class sum to one", () => {
  fc.assert(
    fc.property(fc.array(outcomes, { minLength: 2, maxLength: 6 }), (all) => {
      const matrix = transitions(all);
      for (let from = 0; from < all.length; from++) {
        let given = 0;
        for (let to = 0; to < all.length; to++) {
          const share = matrix[to * all.length + from] ?? -1;
          expect(share).toBeGreaterThanOrEqual(0);
          given += share;
        }
        expect(given).toBeCloseTo(1, 12);
      }
    }),
  );
});
