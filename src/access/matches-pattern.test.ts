import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesPattern } from "./matches-pattern.ts";

test.each([
  ["*", "", true],
  ["*", "anything/at all", true],
  ["", "", true],
  ["", "main", false],
  ["main", "main", true],
  ["main", "Main", false],
  ["release/*", "release/1.2", true],
  ["release/*", "release", false],
  ["a*a", "a", false],
  ["a*a", "aa", true],
  ["*ab*ab*", "ab", false],
  ["*ab*ab*", "abab", true],
  ["ab*b", "ab", false],
  ["a.c", "abc", false],
  ["**", "x", true],
])("the pattern %j and the name %j: %j", (pattern, name, expected) => {
  expect(matchesPattern(pattern, name)).toBe(expected);
});

test("a pattern means what the same regular expression means", () => {
  const letters = (...of: string[]) => fc.array(fc.constantFrom(...of), { maxLength: 10 });
  fc.assert(
    fc.property(letters("a", "b", "*"), letters("a", "b"), (pattern, name) => {
      const regex = new RegExp(
        `^${pattern.map((each) => (each === "*" ? "[^]*" : each)).join("")}$`,
      );

      expect(matchesPattern(pattern.join(""), name.join(""))).toBe(regex.test(name.join("")));
    }),
  );
});

test("a pattern made to be slow is not", () => {
  const pattern = `${"a*".repeat(120)}b`;
  const name = "a".repeat(100_000);

  const before = performance.now();
  const matches = matchesPattern(pattern, name);

  expect(matches).toBe(false);
  // A matcher with exponential backtracking would practically never finish.
  expect(performance.now() - before).toBeLessThan(10_000);
});
