import fc from "fast-check";
import { expect, test } from "vitest";
import { judgeSequence } from "./judge-sequence.ts";

test.each([
  { stored: 0, numbers: [1, 2, 3], answered: 3, fresh: [0, 1, 2], acknowledged: 3 },
  { stored: 2, numbers: [1, 2, 3], answered: 3, fresh: [2], acknowledged: 3 },
  { stored: 3, numbers: [1, 2, 3], answered: 3, fresh: [], acknowledged: 3 },
  { stored: 0, numbers: [1, 3, 4], answered: 1, fresh: [0], acknowledged: 1 },
  { stored: 0, numbers: [2], answered: 0, fresh: [], acknowledged: 0 },
  { stored: 1, numbers: [2, 2, 1, 3], answered: 4, fresh: [0, 3], acknowledged: 3 },
])("$numbers after $stored", ({ stored, numbers, ...judged }) => {
  expect(judgeSequence(stored, numbers)).toEqual(judged);
});

test("whatever comes, what is kept is 1, 2, 3, … and what is answered is kept", () => {
  const batches = fc.array(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 8 }));
  fc.assert(
    fc.property(batches, (all) => {
      const kept: number[] = [];
      let acknowledged = 0;
      for (const numbers of all) {
        const judged = judgeSequence(acknowledged, numbers);
        kept.push(...judged.fresh.map((index) => numbers[index] ?? 0));
        acknowledged = judged.acknowledged;
        expect(numbers.slice(0, judged.answered).every((n) => n <= acknowledged)).toBe(true);
      }
      expect(kept).toEqual(Array.from({ length: acknowledged }, (_, i) => i + 1));
    }),
  );
});
