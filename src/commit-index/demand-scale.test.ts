import { expect, test } from "vitest";
import { demandScale, observedScale } from "./demand-scale.ts";

const past = (count: number, everyMs: number, savedMs: number, confidence = 1) =>
  Array.from({ length: count }, (_, at) => ({ firstMs: (at + 1) * everyMs, savedMs, confidence }));

test("a build that was made of nothing but hits is not expected to be faster still", () => {
  expect(demandScale(past(3_000, 0.5, 400))).toBe(1);
});

test("one that made everything is: down to half a millisecond a result", () => {
  expect(demandScale(past(600, 100, 400))).toBeCloseTo((600 * 0.5) / 60_000);
});

test("what a cache cannot save stays: here a quarter of the time went elsewhere", () => {
  expect(demandScale(past(600, 100, 75))).toBeCloseTo(0.25);
});

test("what is unlikely to be a hit takes its time again", () => {
  expect(demandScale(past(600, 100, 100, 0.3))).toBeCloseTo(0.7);
});

test("where it is known how many were made at a time, less is taken off", () => {
  expect(demandScale(past(600, 100, 200), 4)).toBeCloseTo(0.5);
});

test("nothing is known of an index without times", () => {
  expect(demandScale([])).toBe(1);
  expect(demandScale([{ firstMs: 0, savedMs: 10, confidence: 1 }])).toBe(1);
});

test("a build under way shows it itself", () => {
  const asked = Array.from({ length: 9 }, (_, at) => ({ firstMs: at * 100, atMs: at * 25 }));

  expect(observedScale(asked)).toBe(0.25);
  expect(observedScale(asked.slice(0, 5))).toBeUndefined();
});
