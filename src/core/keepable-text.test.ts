import { expect, test } from "vitest";
import { isKeepable, keepableText } from "./keepable-text.ts";

test.each([
  { text: "plain", kept: "plain" },
  { text: "a\0b", kept: "a\uFFFDb" },
  { text: "\uD83D", kept: "\uFFFD" },
  { text: "1234567\u{1F600}", kept: "1234567\uFFFD" },
])("$text is kept as $kept", ({ text, kept }) => {
  expect(keepableText(text, 8)).toBe(kept);
  expect(isKeepable(kept)).toBe(true);
});

test.each(["\0", "a\uDE00", "\uD83D b"])("%j cannot be kept as it is", (text) => {
  expect(isKeepable(text)).toBe(false);
});
