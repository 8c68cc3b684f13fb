import { describe, expect, test } from "vitest";
import { deservesAttention, directionOf, joinDirections } from "./direction.ts";

const changes = (regression: boolean, count: number, magnitude = 2) =>
  Array.from({ length: count }, () => ({ regression, magnitude }));
const worse = (count: number, magnitude?: number) => changes(true, count, magnitude);
const better = (count: number, magnitude?: number) => changes(false, count, magnitude);

describe("the direction of a group", () => {
  test.each([
    { of: [], is: "none" },
    { of: worse(1), is: "regression" },
    { of: better(1), is: "improvement" },
    { of: [...worse(1, 3), ...better(99, 3)], is: "mixed" },
    { of: [...worse(14), ...better(86, 3)], is: "improvement" },
    { of: [...worse(15), ...better(85, 3)], is: "mixed" },
    { of: [...worse(84, 3), ...better(16)], is: "mixed" },
    { of: [...worse(85, 3), ...better(15)], is: "regression" },
    { of: [...worse(9), ...better(91)], is: "improvement" },
    { of: [...worse(10), ...better(90)], is: "mixed" },
    { of: [...worse(90), ...better(10)], is: "mixed" },
    { of: [...worse(91), ...better(9)], is: "regression" },
  ])("is $is ($of.length changes)", ({ of, is }) => {
    expect(directionOf(of)).toBe(is);
  });

  test.each([
    { of: ["none", "none"], is: "none" },
    { of: ["none", "improvement"], is: "improvement" },
    { of: ["regression", "regression"], is: "regression" },
    { of: ["regression", "improvement"], is: "mixed" },
    { of: ["mixed", "improvement"], is: "mixed" },
  ] as const)("$of join to $is", ({ of, is }) => {
    expect(joinDirections(of)).toBe(is);
  });
});

test.each([
  { primary: worse(1, 3), secondary: [], does: true },
  { primary: worse(1, 2), secondary: worse(1, 3), does: false },
  { primary: [], secondary: better(1, 4), does: true },
  { primary: worse(2), secondary: worse(3), does: true },
  { primary: worse(2), secondary: worse(2), does: false },
])(
  "$primary.length primary and $secondary.length secondary changes deserve attention: $does",
  (each) => {
    expect(deservesAttention(each.primary, each.secondary)).toBe(each.does);
  },
);
