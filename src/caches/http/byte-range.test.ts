import { expect, test } from "vitest";
import { spanRequested } from "./byte-range.ts";

test.each([
  [undefined, "all"],
  ["bytes=0-", { start: 0, end: 10 }],
  ["bytes=2-4", { start: 2, end: 5 }],
  ["bytes=2-99", { start: 2, end: 10 }],
  ["bytes=-3", { start: 7, end: 10 }],
  ["bytes=-99", { start: 0, end: 10 }],
  ["bytes=9-9", { start: 9, end: 10 }],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=4-2", "all"],
  ["bytes=-", "all"],
  ["bytes=0-1,3-4", "all"],
  ["lines=0-1", "all"],
  ["bytes=99999999999999999999-", "all"],
] as const)("of ten bytes, %s asks for %o", (header, expected) => {
  expect(spanRequested(header, 10)).toEqual(expected);
});
