import { expect, test } from "vitest";
import { normal } from "#statistics/seeded-random.ts";
import { independent, modelProcess, simulateComparisons } from "./simulate-comparisons.ts";

// The show table takes thousands of trials; this number is enough to detect a broken rule.

test("equal artifacts cause no confirmed change", () => {
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

test("two modes as far apart as the change do not hide it, even if self-tests set a higher limit", () => {
  const { confirmed, noChange } = simulateComparisons({
    trials: 300,
    shift: 0.04,
    // Previously, 88 % were found: processes that showed the change were treated as delayed ones.
    limit: 0.016,
    open: independent((random) => Math.exp(0.005 * normal(random)) * (random() < 0.5 ? 1.04 : 1)),
    seed: 3,
  });

  expect(confirmed).toBeGreaterThan(0.97);
  expect(noChange).toBeLessThan(0.01);
});
