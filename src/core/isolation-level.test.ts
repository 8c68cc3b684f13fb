import { expect, test } from "vitest";
import { strongerIsolation } from "./isolation-level.ts";
import { requirementsOf, serves } from "./platform.ts";

test("an action that requires a level needs a worker that offers it", () => {
  const strict = { "grange-isolation-sandbox": "yes", "grange-isolation-strict": "yes" };
  const sandbox = { "grange-isolation-sandbox": "yes" };

  expect(serves(strict, { isolation: "sandbox" })).toBe(true);
  expect(serves(strict, { isolation: "strict" })).toBe(true);
  expect(serves(sandbox, { isolation: "strict" })).toBe(false);
  expect(serves({}, { isolation: "sandbox" })).toBe(false);
  expect(serves({}, {})).toBe(true);
});

test("an action with the network needs a worker that stops the attacks by the network, too", () => {
  const offer = { "grange-isolation-sandbox": "yes", "grange-isolation-strict": "yes" };

  expect(serves(offer, { isolation: "strict", network: "on" })).toBe(false);
  expect(serves(offer, { isolation: "sandbox", dockerNetwork: "standard" })).toBe(false);
  expect(serves(offer, { isolation: "sandbox", network: "off" })).toBe(true);
});

test("a level that nobody knows is never served, and a worker cannot offer the level itself", () => {
  expect(serves({ isolation: "vault" }, { isolation: "vault" })).toBe(false);
  expect(requirementsOf({ isolation: "vault" })).toEqual({ "grange-isolation-vault": "yes" });
});

test.each([
  [undefined, undefined, undefined],
  ["sandbox", undefined, "sandbox"],
  [undefined, "strict", "strict"],
  ["sandbox", "strict", "strict"],
  ["strict", "sandbox", "strict"],
] as const)("of %s and %s, %s is the stronger", (one, other, stronger) => {
  expect(strongerIsolation(one, other)).toBe(stronger);
});
