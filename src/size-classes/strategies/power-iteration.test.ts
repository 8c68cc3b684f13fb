import { expect, test } from "vitest";
import { powerIteration, startOf } from "./power-iteration.ts";

test("two classes converge in two steps", () => {
  const { probabilities, steps } = powerIteration([0.9, 0.9, 0.1, 0.1], [0.5, 0.5], 0.002);

  expect(steps).toBe(2);
  expect(probabilities).toEqual([0.9, 0.1]);
});

test("converges at once from the last result", () => {
  expect(powerIteration([0.9, 0.9, 0.1, 0.1], [0.9, 0.1], 0.002).steps).toBe(1);
});

test("ends even when no error is small enough", () => {
  const thirds = powerIteration([0, 1, 1, 0], [0.3, 0.7], Number.MIN_VALUE);

  expect(thirds.steps).toBe(10_000);
});

test("starts with the last result, one half for classes without one, and the rest on the first", () => {
  expect(startOf([1, 2, 4], new Map())).toEqual([0, 0.5, 0.5]);
  expect(startOf([1, 2, 4, 8], undefined)).toEqual([-0.5, 0.5, 0.5, 0.5]);
  expect(startOf([1, 2], new Map([[2, 0.25]]))).toEqual([0.75, 0.25]);
  expect(startOf([1, 2], new Map([[2, 1]]))).toEqual([0.5, 0.5]);
});
