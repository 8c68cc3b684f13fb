import fc from "fast-check";
import { expect, test } from "vitest";
import { digestFrom, digestFromDigits, digestKey, uniqueDigests } from "./digest.ts";

test("digests are equal when hash and size are, in any order", () => {
  const digest = fc
    .tuple(fc.constantFrom("a", "b", "c"), fc.nat(2))
    .map(([digit, sizeBytes]) => digestFrom("sha256", digit.repeat(64), sizeBytes));
  fc.assert(
    fc.property(fc.array(digest, { maxLength: 20 }), (digests) => {
      const keys = uniqueDigests(digests).map(digestKey);

      expect(keys).toEqual([...new Set(digests.map(digestKey))]);
    }),
  );
});

test.each([
  ["a", 1, /a hash is 64/],
  ["a".repeat(64), -1, /sizeBytes/],
  ["a".repeat(64), 2 ** 53, /sizeBytes/],
  ["a".repeat(64), 0.5, /sizeBytes/],
])("%s with size %d is not a digest", (digits, sizeBytes, problem) => {
  expect(() => digestFromDigits("sha256", digits, sizeBytes)).toThrow(problem);
});
