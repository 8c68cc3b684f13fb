import { expect, test } from "vitest";
import { defaultSettings } from "../settings.ts";
import { failed, succeededIn, timedOutAfter } from "./baseline.fixture.ts";
import { limitsOf, normalised } from "./pagerank-outcomes.ts";

const halfAnHour = 30 * 60_000;

test.each([
  { sizeClass: 1, acceptable: 169.7 },
  { sizeClass: 2, acceptable: 120 },
  { sizeClass: 4, acceptable: 84.9 },
])("a median of 60 s on class 8 makes $acceptable s acceptable on class $sizeClass", (row) => {
  const limits = limitsOf(row.sizeClass, 8, 60_000, halfAnHour, defaultSettings);

  expect(Number((limits.acceptableMs / 1000).toFixed(1))).toBe(row.acceptable);
  expect(limits.timeoutMs).toBe(limits.acceptableMs * 1.5);
});

test("a fast action gets the minimum timeout", () => {
  const limits = limitsOf(4, 8, 100, halfAnHour, defaultSettings);

  expect(limits.timeoutMs).toBe(10_000);
  expect(limits.acceptableMs).toBe(100 * Math.SQRT2);
});

test("a short timeout reduces the acceptable time", () => {
  const limits = limitsOf(1, 8, 60_000, 90_000, defaultSettings);

  expect(limits).toMatchObject({ timeoutMs: 90_000, acceptableMs: 60_000 });
});

test("outcomes are scaled to the largest class", () => {
  const limits = { increase: 2, acceptableMs: 120, timeoutMs: 180 };
  const outOfMemory = { ...failed, end: "out_of_memory" } as const;
  const slow = succeededIn(120);
  const runs = [succeededIn(100), succeededIn(60), slow, failed, outOfMemory, timedOutAfter(180)];

  expect(normalised(runs, limits)).toEqual({ successesMs: [30, 50], failures: 4 });
});

test("a timeout below the acceptable time is inconclusive", () => {
  const limits = { increase: 2, acceptableMs: 120, timeoutMs: 180 };

  expect(normalised([timedOutAfter(119), timedOutAfter(120)], limits)).toEqual({
    successesMs: [],
    failures: 1,
  });
});
