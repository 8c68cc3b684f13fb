import { expect, test } from "vitest";
import { caseText, changeText, figureText } from "./figure-text.ts";

test.each([
  [944_372_100, "instructions", "944.4 M"],
  [1_673_000_000, "instructions", "1.67 G"],
  [0.4012, "seconds", "401 ms"],
  [3.7213, "seconds", "3.72 s"],
  [0, "bytes", "0 B"],
  [96_960_512, "bytes", "92.47 MiB"],
  [26_221, "count", "26,221"],
  [1234.5, "per-second", "1.23 k/s"],
] as const)("%d %s is %s", (value, unit, text) => {
  expect(figureText(value, unit)).toBe(text);
});

test.each([
  [0.0021, "+0.21 %"],
  [-0.5, "-50.0 %"],
  [12, "+1200 %"],
  [0, "0 %"],
  [null, "from 0"],
])("a change of %s is %s", (change, text) => {
  expect(changeText(change)).toBe(text);
});

test("a case is named by what there is of it", () => {
  const one = {
    section: "runtime",
    benchmark: "parser",
    profile: "",
    scenario: "",
    backend: "js",
    target: "here",
  } as const;
  expect(caseText(one)).toBe("runtime parser js");
  expect(caseText({ ...one, section: "compile", profile: "check", scenario: "full" })).toBe(
    "parser check full js",
  );
});
