import { expect, test } from "vitest";
import { spreadWaitMs } from "./spread-wait.ts";

test("long waits end at different times, and never later than asked", () => {
  expect([0, 0.5, 1].map((random) => spreadWaitMs(20_000, random))).toEqual([
    20_000, 17_500, 15_000,
  ]);
});

test("short waits are kept", () => {
  expect(spreadWaitMs(1_000, 1)).toBe(1_000);
  expect(spreadWaitMs(0, 1)).toBe(0);
});
