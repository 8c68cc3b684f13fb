import { expect, test } from "vitest";
import { agoText, durationText, elapsedMs } from "./duration.ts";

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1_000, "1.0 s"],
  [9_999, "9.9 s"],
  [59_999, "59 s"],
  [65_000, "1 m 05 s"],
  [3_720_000, "1 h 02 m"],
  [90_000_000, "1 d 01 h"],
])("%i ms reads as %s", (ms, expected) => {
  expect(durationText(ms)).toBe(expected);
});

test.each([
  ["2026-03-01T11:59:55Z", "just now"],
  ["2026-03-01T11:59:00Z", "1 min ago"],
  ["2026-03-01T09:00:00Z", "3 h ago"],
  ["2026-02-27T12:00:00Z", "2 d ago"],
  ["2026-01-01T12:00:00Z", "2026-01-01"],
  ["2026-03-01T12:00:09Z", "just now"],
])("at noon on 1 March, %s is %s", (time, expected) => {
  expect(agoText(time, Date.parse("2026-03-01T12:00:00Z"))).toBe(expected);
});

test("an unfinished job lasts until now, and one without a start lasts no time", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");

  expect(elapsedMs("2026-03-01T11:59:00Z", null, now)).toBe(60_000);
  expect(elapsedMs(null, null, now)).toBeUndefined();
});
