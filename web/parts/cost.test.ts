import { expect, test } from "vitest";
import { costText, riskText } from "./cost.ts";

test.each([
  [0, "0"],
  [0.0004, "4e-4"],
  [0.123, "0.12"],
  [12.34, "12.3"],
  [-12_345.6, "-12,346"],
])("a cost of %s is shown as %s", (cost, expected) => {
  expect(costText(cost)).toBe(expected);
});

test.each([
  [0, "0 %"],
  [0.001, "< 1 %"],
  [0.256, "26 %"],
  [0.999, "> 99 %"],
  [1, "100 %"],
])("a risk of %s is shown as %s", (risk, expected) => {
  expect(riskText(risk)).toBe(expected);
});
