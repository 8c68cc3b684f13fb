import { expect, test } from "vitest";
import { powerIteration, startOf } from "./power-iteration.ts";

test("two classes come to rest in two steps", () => {
  const { probabilities, steps } = powerIteration([0.9, 0.9, 0.1, 0.1], [0.5, 0.5], 0.002);

  expect(steps).toBe(2);
  expect(probabilities).toEqual([0.9, 0.1]);
});

test("rests at once where it came to rest last time", () => {
  expect(powerIteration([0.9, 0.9, 0.1, 0.1], [0.9, 0.1], 0.002).steps).toBe(1);
});

test("ends also where no error would be small enough", () => {
  const thirds = powerIteration([0, 1, 1, 0], [0.3, 0.7], Number.MIN_VALUE);

  expect(thirds.steps).toBe(10_000);
});

test("starts where it ended, with one half for classes without, and the rest on the first", () => {
  expect(startOf([1, 2, 4], new Map())).toEqual([0, 0.5, 0.5]);
  expect(startOf([1, 2, 4, 8], undefined)).toEqual([-0.5, 0.5, 0.5, 0.5]);
  expect(startOf([1, 2], new Map([[2, 0.25]]))).toEqual([0.75, 0.25]);
  expect(startOf([1, 2], new Map([[2, 1]]))).toEqual([0.5, 0.5]);
});
