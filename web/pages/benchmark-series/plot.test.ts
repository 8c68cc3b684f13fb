import fc from "fast-check";
import { expect, test } from "vitest";
import { linearAxis, nearest, placeOf } from "./plot.ts";

const values = fc.array(fc.double({ min: -1e12, max: 1e12, noNaN: true }), { maxLength: 50 });

test("all values are on the axis, and its few labels are within it", () => {
  fc.assert(
    fc.property(values, (those) => {
      const { low, high, ticks } = linearAxis(those);
      expect(low).toBeLessThan(high);
      expect(those.every((value) => value >= low && value <= high)).toBe(true);
      expect(ticks.length).toBeLessThanOrEqual(6);
      const room = (high - low) * 1e-6;
      expect(ticks.every((tick) => tick >= low - room && tick <= high + room)).toBe(true);
    }),
  );
});

test("labels are round", () => {
  expect(linearAxis([1_027, 1_145]).ticks).toEqual([1_050, 1_100, 1_150]);
});

test("the point nearest to its own position is the point itself", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3_000 }), fc.nat(), (count, n) => {
      const at = n % count;
      expect(nearest(placeOf(at, count, 40, 800), count, 40, 800)).toBe(at);
    }),
  );
});
