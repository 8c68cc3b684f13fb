import { expect, test } from "vitest";
import { settingsChange } from "./size-class-settings.ts";

test("settings are written as the API calls them, or with hyphens; times with their unit", () => {
  const written = [
    "price-of-delay=0.5",
    "strategy=adr",
    "greaterMayTake=no",
    "failureBoostMs=2h",
    "minimumAcceptableMs=250",
    "timeoutMultiplier=usual",
  ];

  expect(settingsChange(written)).toEqual({
    priceOfDelay: 0.5,
    strategy: "adr",
    greaterMayTake: false,
    failureBoostMs: 7_200_000,
    minimumAcceptableMs: 250,
    timeoutMultiplier: null,
  });
});

test.each([
  ["moon=full", 'there is no setting "moon"; there are strategy,'],
  ["strategy", '"strategy" is not written NAME=VALUE'],
  ["strategy=", '"strategy=" is not written NAME=VALUE'],
  ["strategy=tarot", "strategy"],
  ["priceOfDelay=-1", "priceOfDelay"],
  ["priceOfDelay=a=b", "priceOfDelay"],
  ["failureBoostMs=soon", "failureBoostMs"],
])("%s is refused: %s", (written, says) => {
  expect(() => settingsChange([written])).toThrow(says);
});
