import { expect, test } from "vitest";
import { compareSemVer, parseSemVer } from "./semver-order.ts";

// The examples of https://semver.org/#spec-item-11, and published versions.
const inOrder = [
  "0.9.10",
  "1.0.0-alpha",
  "1.0.0-alpha.1",
  "1.0.0-alpha.beta",
  "1.0.0-beta",
  "1.0.0-beta.2",
  "1.0.0-beta.11",
  "1.0.0-rc.1",
  "1.0.0",
  "2.0.0",
  "2.1.0",
  "2.1.1",
  "7.1.0-dev.20260708.1",
  "7.1.0-dev.20261021.1",
  "10.0.0",
];

test("versions come in the order that semver gives them", () => {
  const shuffled = inOrder.toSorted().toReversed();

  const sorted = shuffled
    .flatMap((text) => parseSemVer(text) ?? [])
    .toSorted(compareSemVer)
    .map((version) => version.text);

  expect(sorted).toEqual(inOrder);
});

test.each(["1.0", "v1.0.0", "1.0.0.0", "01.0.0", "latest", ""])("%j is no version", (text) => {
  expect(parseSemVer(text)).toBeUndefined();
});
