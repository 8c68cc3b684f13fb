import { expect, test } from "vitest";
import { claimSize } from "./claim-size.ts";

const short = [5, 5, 5, 5];

test.each([
  ["one for each free slot", { slots: 4, running: 1, waiting: 0, recentMs: [] }, 3],
  ["none when all slots are taken", { slots: 2, running: 2, waiting: 0, recentMs: [] }, 0],
  [
    "ahead when the last ones were short",
    { slots: 2, running: 2, waiting: 0, recentMs: short },
    32,
  ],
  [
    "nothing ahead after one long one",
    { slots: 2, running: 2, waiting: 0, recentMs: [5, 5, 5, 900] },
    0,
  ],
  [
    "nothing ahead while too few are known",
    { slots: 1, running: 1, waiting: 0, recentMs: [5, 5] },
    0,
  ],
  [
    "nothing more while over half of it waits",
    { slots: 1, running: 1, waiting: 9, recentMs: short },
    0,
  ],
  ["the rest after half of it", { slots: 1, running: 1, waiting: 8, recentMs: short }, 8],
] as const)("asks for %s", (_, load, expected) => {
  expect(claimSize(load)).toBe(expected);
});
