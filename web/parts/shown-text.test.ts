import { expect, test } from "vitest";
import { shownText } from "./shown-text.ts";

test.each([
  ["//lib:ünïcode_測試 🙂", "//lib:ünïcode_測試 🙂"],
  ["//a:\u202Egnp.exe", "//a:\uFFFDgnp.exe"],
  ["\u001b[31mred\u0007", "\uFFFD[31mred\uFFFD"],
  ["a\u2066b\u2069\u200Bc\nd", "a\uFFFDb\uFFFD\uFFFDc\uFFFDd"],
])("%j is shown as %j", (text, shown) => {
  expect(shownText(text)).toBe(shown);
});
