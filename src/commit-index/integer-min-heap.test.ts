import fc from "fast-check";
import { expect, test } from "vitest";
import { integerMinHeap } from "./integer-min-heap.ts";

test("always returns the smallest item", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20)), { maxLength: 60 }), (steps) => {
      const heap = integerMinHeap(steps.length);
      const weights: number[] = [];
      const inside = new Set<number>();
      for (const weight of steps) {
        if (weight !== null) {
          inside.add(weights.length);
          heap.push(weights.length, weight);
          weights.push(weight);
        }
        const least = Math.min(...[...inside].map((index) => weights[index] ?? 0));
        expect(weights[heap.least() ?? -1] ?? Infinity).toBe(least);
        if (weight !== null) continue;
        const popped = heap.pop();
        expect(weights[popped ?? -1] ?? Infinity).toBe(least);
        if (popped !== undefined) inside.delete(popped);
      }
    }),
  );
});
