import { expect, test } from "vitest";
import { backgroundColour, colourVariable, textOn } from "./palette.ts";

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

test.each([
  [1, "#fff"],
  [7, "#000"],
  [11, "#000"],
  [15, "#000"],
  [226, "#000"],
  [232, "#fff"],
  ["#ff8c00", "#000"],
  ["#00008b", "#fff"],
] as const)("text on colour %s is %s", (colour, expected) => {
  expect(textOn(colour)).toBe(expected);
});

test("a background does not depend on the theme", () => {
  expect(backgroundColour(1)).toBe("rgb(179 38 30)");
  expect(backgroundColour("#ff8c00")).toBe("rgb(255 140 0)");
  expect(backgroundColour(undefined)).toBeUndefined();
});
