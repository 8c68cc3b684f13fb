import { expect, test } from "vitest";
import { independent, modelProcess, simulateComparisons } from "./simulate-comparisons.ts";

// The show table takes thousands of trials; here are enough to see a rule that broke.

test("equal artifacts raise no confirmed alarm", () => {
  const { confirmed, claimed } = simulateComparisons({
    trials: 150,
    shift: 0,
    open: independent(modelProcess()),
    seed: 1,
  });

  expect(claimed).toBeLessThan(0.05);
  expect(confirmed).toBe(0);
});

test.each([
  { shift: 0.02, least: 0.85 },
  { shift: 0.03, least: 0.95 },
  { shift: -0.03, least: 0.95 },
])("a shift of $shift is confirmed, and with its own sign", ({ shift, least }) => {
  const { confirmed, wrongSide } = simulateComparisons({
    trials: 300,
    shift,
    open: independent(modelProcess()),
    seed: 2,
  });

  expect(confirmed).toBeGreaterThan(least);
  expect(wrongSide).toBe(0);
});
