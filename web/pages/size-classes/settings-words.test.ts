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

test("every setting is in the form", () => {
  const shown = ["strategy", "greaterMayTake", ...settingFields.map(({ name }) => name)];

  expect(shown.toSorted()).toEqual(sizeClassSettingNames.toSorted());
});

test("an unchanged form changes nothing", () => {
  expect(changeOf(formOf(now), now)).toEqual({});
});

test("only differences are sent, in the API's units; an empty field means the default", () => {
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

test("a value that is not a number gives a message", () => {
  expect(changeOf({ ...formOf(now), priceOfDelay: "a lot" }, now)).toContain("not “a lot”");
});
