import { expect, test } from "vitest";
import { demandScale, observedScale } from "./demand-scale.ts";

const past = (count: number, everyMs: number, savedMs: number, confidence = 1) =>
  Array.from({ length: count }, (_, at) => ({ firstMs: (at + 1) * everyMs, savedMs, confidence }));

test("a build that had only hits is not expected to become faster", () => {
  expect(demandScale(past(3_000, 0.5, 400))).toBe(1);
});

test("a build that made everything is expected to be faster, down to half a millisecond per result", () => {
  expect(demandScale(past(600, 100, 400))).toBeCloseTo((600 * 0.5) / 60_000);
});

test("time that a cache cannot save remains: here a quarter of the build", () => {
  expect(demandScale(past(600, 100, 75))).toBeCloseTo(0.25);
});

test("an unlikely hit takes its time again", () => {
  expect(demandScale(past(600, 100, 100, 0.3))).toBeCloseTo(0.7);
});

test("with a known parallelism, less time is subtracted", () => {
  expect(demandScale(past(600, 100, 200), 4)).toBeCloseTo(0.5);
});

test("an index without times gives no estimate", () => {
  expect(demandScale([])).toBe(1);
  expect(demandScale([{ firstMs: 0, savedMs: 10, confidence: 1 }])).toBe(1);
});

test("a running build shows its speed itself", () => {
  const asked = Array.from({ length: 9 }, (_, at) => ({ firstMs: at * 100, atMs: at * 25 }));

  expect(observedScale(asked)).toBe(0.25);
  expect(observedScale(asked.slice(0, 5))).toBeUndefined();
});
