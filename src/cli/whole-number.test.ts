import { expect, test } from "vitest";
import { priorityNumber } from "./priority-number.ts";
import { numberFrom } from "./whole-number.ts";

test.each([
  ["-1000", -1_000],
  ["+5", 5],
  ["0", 0],
])("%s is a priority", (text, expected) => {
  expect(priorityNumber(text)).toBe(expected);
});

test.each(["1001", "-1001", "1.5", "soon", ""])("'%s' is no priority", (text) => {
  expect(() => priorityNumber(text)).toThrow("from -1000 to 1000");
});

test("a number outside of its limits is refused with them", () => {
  const upToHundred = numberFrom(1, 100);

  expect(upToHundred("100")).toBe(100);
  expect(() => upToHundred("0")).toThrow("from 1 to 100");
  expect(() => upToHundred("101")).toThrow("from 1 to 100");
});
