import fc from "fast-check";
import { expect, test } from "vitest";
import { functionOf, hexOf } from "#core/digest.ts";
import { digests } from "./digest.fixture.ts";
import { digestForName, digestInName } from "./digest-in-name.ts";

test("a digest that was written into a name is found there, and what follows it", () => {
  fc.assert(
    fc.property(digests, fc.array(fc.string()), fc.array(fc.string()), (digest, before, after) => {
      const segments = digestForName(digest).split("/");

      expect(digestInName([...before, ...segments, ...after], before.length)).toEqual({
        digest,
        next: before.length + segments.length,
      });
    }),
  );
});

test("a name may say any function", () => {
  fc.assert(
    fc.property(digests, (digest) => {
      const segments = [functionOf(digest), hexOf(digest), `${digest.sizeBytes}`];

      expect(digestInName(segments, 0)).toEqual({ digest, next: 3 });
    }),
  );
});

const hex = "a".repeat(64);

test.each([
  ["nothing", ""],
  ["no size", hex],
  ["an empty size", `${hex}/`],
  ["a size of words", `${hex}/many`],
  ["a size beyond counting", `${hex}/9007199254740993`],
  ["a negative size", `${hex}/-1`],
  ["upper case", `${hex.toUpperCase()}/1`],
  ["a function in upper case", `BLAKE3/${hex}/1`],
  ["a function that we lack", `murmur3/${hex}/1`],
  ["a function and another's length", `sha1/${hex}/1`],
  ["a name of our own", `blake3-${hex}/1`],
  ["a function alone", "blake3"],
])("%s names no blob", (_, name) => {
  expect(digestInName(name.split("/"), 0)).toBeUndefined();
});
