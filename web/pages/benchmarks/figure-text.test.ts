import fc from "fast-check";
import { expect, test } from "vitest";
import { changeText, isWorse, percentText, valueText } from "./figure-text.ts";

test.each([
  [1_027_482_113, "instructions", "1.027 G"],
  [813e6, "instructions", "813 M"],
  [48_211, "count", "48,211"],
  [0, "count", "0"],
  [1.734_21, "seconds", "1.734 s"],
  [0.012_3, "seconds", "12.3 ms"],
  [213_400_000, "bytes", "213.4 MB"],
  [12, "bytes", "12 B"],
  [912.44, "per-second", "912.4 /s"],
] as const)("%d in %s is %s", (value, unit, text) => {
  expect(valueText(value, unit)).toBe(text);
});

test.each([
  [0.0123, "+1.23 %"],
  [-0.288, "−28.8 %"],
  [0, "0 %"],
  [2, "+200 %"],
  [0.000_02, "+0.002 %"],
  [null, "from 0"],
])("a change of %d is %s", (change, text) => {
  expect(changeText(change)).toBe(text);
});

test("only an unchanged value is shown as no change", () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-15, max: 1e6, noNaN: true }), (part) => {
      expect(Number.parseFloat(percentText(part).replaceAll(",", ""))).toBeGreaterThan(0);
    }),
  );
});

test("an increase is worse if less is better, and the reverse", () => {
  expect([0.1, -0.1, null].map((change) => isWorse(change, "lower"))).toEqual([true, false, true]);
  expect([0.1, -0.1, null].map((change) => isWorse(change, "higher"))).toEqual([
    false,
    true,
    false,
  ]);
});
