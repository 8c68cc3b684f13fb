import { expect, test } from "vitest";
import { backoffMs, machineRestMs } from "./backoff.ts";

test.each([
  { failures: 1, call: 50, rest: 500 },
  { failures: 2, call: 100, rest: 1_000 },
  { failures: 5, call: 800, rest: 8_000 },
  { failures: 60, call: 2_500, rest: 15_000 },
])(
  "after $failures failures, at the least $call ms before a call, and $rest ms of rest",
  (each) => {
    expect(backoffMs(each.failures, 0)).toBe(each.call);
    expect(machineRestMs(each.failures, 0)).toBe(each.rest);
  },
);
