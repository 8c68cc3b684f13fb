import { expect, test } from "vitest";
import { durationText } from "./duration-text.ts";

test.each([
  { ms: -3, expected: "0 ms" },
  { ms: 84.4, expected: "84 ms" },
  { ms: 3_240, expected: "3.2 s" },
  { ms: 59_949, expected: "59.9 s" },
  { ms: 59_950, expected: "1 min 00 s" },
  { ms: 125_000, expected: "2 min 05 s" },
  { ms: 3_720_000, expected: "1 h 02 min" },
])("$ms ms reads $expected", ({ ms, expected }) => {
  expect(durationText(ms)).toBe(expected);
});
