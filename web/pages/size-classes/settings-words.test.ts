import { expect, test } from "vitest";
import { type SizeClassSettingValues, sizeClassSettingNames } from "#api/size-class.ts";
import { changeOf, formOf, settingFields } from "./settings-words.ts";

const now: SizeClassSettingValues = {
  strategy: "grange",
  priceOfDelay: 1,
  greaterMayTake: true,
  acceptableIncreaseExponent: 0.5,
  timeoutMultiplier: 1.5,
  minimumAcceptableMs: 10_000,
  failureBoostMs: 86_400_000,
  convergenceError: 0.002,
  mostBackgroundRuns: 1_000,
};

test("every setting has its place in the form", () => {
  const shown = ["strategy", "greaterMayTake", ...settingFields.map(({ name }) => name)];

  expect(shown.toSorted()).toEqual(sizeClassSettingNames.toSorted());
});

test("a form that nobody touched changes nothing", () => {
  expect(changeOf(formOf(now), now)).toEqual({});
});

test("only what is different is sent, in the API's units; what is emptied is as usual", () => {
  const form = {
    ...formOf(now),
    strategy: "adr" as const,
    minimumAcceptableMs: "2.5",
    priceOfDelay: " ",
  };

  expect(changeOf(form, now)).toEqual({
    strategy: "adr",
    minimumAcceptableMs: 2_500,
    priceOfDelay: null,
  });
});

test("what is no number is said to be none", () => {
  expect(changeOf({ ...formOf(now), priceOfDelay: "a lot" }, now)).toContain("not “a lot”");
});
