import { expect, test } from "vitest";
import { colourVariable } from "./palette.ts";

test.each([
  [1, "var(--ansi-1)"],
  [16, "rgb(0 0 0)"],
  [208, "rgb(255 135 0)"],
  [231, "rgb(255 255 255)"],
  [232, "rgb(8 8 8)"],
  [255, "rgb(238 238 238)"],
  ["#ff8c00", "#ff8c00"],
  [undefined, undefined],
])("colour %s is %s", (colour, expected) => {
  expect(colourVariable(colour)).toBe(expected);
});
