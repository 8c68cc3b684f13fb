import { expect, test } from "vitest";
import { numberText } from "./number-text.ts";

test.each([0, 7, 999, 1_000, -1_000, 999_999, 1_000_000, 9_007_199_254_740_991, 0.5, 1e21])(
  "%d is written as the browser writes it in English",
  (value) => {
    expect(numberText(value)).toBe(value.toLocaleString("en"));
  },
);
