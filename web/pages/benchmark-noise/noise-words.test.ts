import { expect, test } from "vitest";
import { limitText, spreadText } from "./noise-words.ts";

test.each([
  { parts: [], words: "not seen" },
  { parts: [0.004], words: "0.40 %, at most 0.40 %" },
  { parts: [0.03, 0, 0.002], words: "0.20 %, at most 3.00 %" },
])("$parts is told as $words", ({ parts, words }) => {
  expect(spreadText(parts)).toBe(words);
});

test("every difference of an exact metric is reported", () => {
  expect(limitText({ limit: 0, from: "exact" })).toBe("any difference");
  expect(limitText({ limit: 0.002, from: "least" })).toBe("0.20 %");
});
