import { expect, test } from "vitest";
import { nextLookMs } from "./memory-pace.ts";

const far = { heldBytes: 0, limitBytes: 8e9, lookCostMs: 0.1 };

test("far from the limit, or without one, it measures ten times a second", () => {
  expect(nextLookMs(far)).toBe(100);
  expect(nextLookMs({ ...far, limitBytes: Infinity })).toBe(100);
});

test("near the limit it measures more often, so that 8 GB/s are noticed in time", () => {
  expect(nextLookMs({ ...far, heldBytes: 7.6e9 })).toBeCloseTo(50, 5);
  expect(nextLookMs({ ...far, heldBytes: 8e9 })).toBe(5);
});

test("an expensive measurement is taken less often, but never too late", () => {
  expect(nextLookMs({ ...far, lookCostMs: 30 })).toBe(600);
  expect(nextLookMs({ ...far, lookCostMs: 300 })).toBe(1_000);
  expect(nextLookMs({ ...far, lookCostMs: 300, isCrowded: true })).toBe(100);
  expect(nextLookMs({ ...far, heldBytes: 6.4e9, lookCostMs: 300 })).toBeCloseTo(200, 5);
  expect(nextLookMs({ ...far, heldBytes: 8e9, lookCostMs: 3 })).toBe(30);
  expect(nextLookMs({ ...far, heldBytes: 8e9, lookCostMs: 300 })).toBe(100);
});
