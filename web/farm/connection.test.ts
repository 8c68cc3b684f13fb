import { expect, test } from "vitest";
import { overall } from "./connection.ts";

test.each([
  { states: [], expected: "quiet" },
  { states: ["live"], expected: "live" },
  { states: ["live", "connecting"], expected: "connecting" },
  { states: ["live", "connecting", "lost"], expected: "lost" },
] as const)("streams that are $states are together $expected", ({ states, expected }) => {
  expect(overall(states)).toBe(expected);
});
