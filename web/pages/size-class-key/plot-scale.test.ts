import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesScale, timeScale } from "./plot-scale.ts";

const times = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), {
  minLength: 0,
  maxLength: 40,
});

test("times keep their order on the axis, and its labels are few", () => {
  fc.assert(
    fc.property(times, (values) => {
      const { at, ticks } = timeScale(values);
      const sorted = values.toSorted((a, b) => a - b).map(at);
      expect(sorted).toEqual(sorted.toSorted((a, b) => a - b));
      expect(sorted.every((place) => place >= 0 && place <= 1)).toBe(true);
      expect(ticks.length).toBeGreaterThan(0);
      expect(ticks.length).toBeLessThanOrEqual(6);
    }),
  );
});

test("a log axis gives equal factors equal distances", () => {
  const { at, ticks } = timeScale([1_200, 250_000]);

  expect(at(30_000) - at(3_000)).toBeCloseTo(at(300_000) - at(30_000));
  expect([at(1_000), at(600_000)]).toEqual([0, 1]);
  expect(ticks).toEqual([1_000, 10_000, 60_000, 600_000]);
});

test("bytes begin at zero, and the largest is within the axis", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 ** 13 }), (most) => {
      const { at, ticks } = bytesScale([most]);
      expect(at(0)).toBe(0);
      expect(at(most)).toBeGreaterThan(0.3);
      expect(ticks.length).toBeLessThanOrEqual(4);
    }),
  );
});
