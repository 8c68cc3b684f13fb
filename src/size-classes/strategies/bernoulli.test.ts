import { expect, test } from "vitest";
import { failed, succeededIn, timedOutAfter } from "./baseline.fixture.ts";
import { successProbability, trialsWithin } from "./bernoulli.ts";

test("a run within the acceptable time is a success, and all others are failures", () => {
  const outOfMemory = { ...failed, end: "out_of_memory" } as const;
  const runs = [succeededIn(10), succeededIn(11), failed, outOfMemory, timedOutAfter(15)];

  const trials = trialsWithin(runs, 10);

  expect(trials).toEqual({ count: 5, successes: 1 });
  expect(successProbability(trials)).toBe(0.2);
});

test("a run that was stopped before the acceptable time is no trial", () => {
  expect(trialsWithin([timedOutAfter(9), timedOutAfter(10), succeededIn(8)], 10)).toEqual({
    count: 2,
    successes: 1,
  });
});

test("a class without data is tried", () => {
  expect(successProbability(trialsWithin(undefined, 10))).toBe(1);
});
