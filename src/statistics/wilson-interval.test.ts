import { expect, test } from "vitest";
import { wilsonInterval } from "./wilson-interval.ts";

// Newcombe (1998), Two-sided confidence intervals for the single proportion, table I, method 3.
test.each([
  { cases: 81, all: 263, low: 0.2553, high: 0.3662 },
  { cases: 15, all: 148, low: 0.0624, high: 0.1605 },
  { cases: 0, all: 20, low: 0, high: 0.1611 },
  { cases: 1, all: 29, low: 0.0061, high: 0.1718 },
])("$cases of $all", ({ cases, all, low, high }) => {
  const interval = wilsonInterval(cases, all);

  expect(interval.share).toBe(cases / all);
  expect(interval.low).toBeCloseTo(low, 4);
  expect(interval.high).toBeCloseTo(high, 4);
});

test("nothing counted says nothing", () => {
  expect(wilsonInterval(0, 0)).toEqual({ share: 0, low: 0, high: 1 });
});
