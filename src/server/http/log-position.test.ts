import { expect, test } from "vitest";
import { formatLogPosition, parseLogPosition } from "./log-position.ts";

test.each(["0", "17", "2:17", "1:0"])("position %s is written as it was read", (text) => {
  expect(formatLogPosition(parseLogPosition(text))).toBe(text);
});

test.each(["", "x", "1:", ":1", "-1", "1:2:3", "1e3", "99999999999999999999"])(
  "%s is no position",
  (text) => {
    expect(() => parseLogPosition(text)).toThrow("is not a position in a log");
  },
);
