import { expect, test } from "vitest";
import { reconnectDelayMs } from "./reconnect-delay.ts";

test.each([
  { failures: 1, random: 1, expected: 250 },
  { failures: 3, random: 1, expected: 1_000 },
  { failures: 3, random: 0, expected: 500 },
  { failures: 90, random: 1, expected: 10_000 },
])("after $failures failures it waits at most $expected ms", ({ failures, random, expected }) => {
  expect(reconnectDelayMs(failures, random)).toBe(expected);
});
