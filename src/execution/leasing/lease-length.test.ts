import { expect, test } from "vitest";
import { grantedLeaseMs } from "./lease-length.ts";

const times = { leaseMs: 15_000, longestLeaseMs: 3_600_000 };

test.each([
  { asked: null, granted: 15_000, why: "nobody asked" },
  { asked: 1_000, granted: 15_000, why: "it would end between two heartbeats" },
  { asked: 1_200_000, granted: 1_200_000, why: "it is within bounds" },
  { asked: 86_400_000, granted: 3_600_000, why: "a dead machine must be noticed" },
])("a worker that requests $asked ms gets $granted ms, because $why", ({ asked, granted }) => {
  expect(grantedLeaseMs(asked, times)).toBe(granted);
});
