import { expect, test } from "vitest";
import { isRecentCcache } from "./find-tools.ts";

test.each([
  { text: "ccache version 4.7.5\nFeatures: http-storage", expected: true },
  { text: "ccache version 4.10", expected: true },
  { text: "ccache version 5.0", expected: true },
  { text: "ccache version 4.6.3", expected: false },
  { text: "ccache version 3.7", expected: false },
  { text: "", expected: false },
])("$text: $expected", ({ text, expected }) => {
  expect(isRecentCcache(text)).toBe(expected);
});
