import { expect, test } from "vitest";
import { formatLineRange, parseLineRange } from "./line-range.ts";

test.each([
  ["#L12", [12, 12]],
  ["#L12-L20", [12, 20]],
  ["L20-12", [12, 20]],
  ["#L0", undefined],
  ["#grange_share_abc", undefined],
  ["", undefined],
])("%j names the lines %j", (hash, range) => {
  expect(parseLineRange(hash)).toEqual(range);
});

test("an address of lines is read as the same lines", () => {
  for (const range of [
    [3, 3],
    [3, 9],
  ] as const)
    expect(parseLineRange(formatLineRange(range))).toEqual(range);
});
