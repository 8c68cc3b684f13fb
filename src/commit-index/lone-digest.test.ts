import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { digestFunctions } from "#core/digest.ts";
import { fromLoneDigest, toLoneDigest } from "./lone-digest.ts";

test.each(digestFunctions)("a digest of %s is unchanged after encoding and decoding", (name) => {
  const digest = digestOf(Buffer.from("blob"), name);

  expect(fromLoneDigest(toLoneDigest(digest), "a blob")).toEqual(digest);
});

test.each([
  ["nothing after the name", { hash: "blake3-", sizeBytes: 1n }],
  ["another function's name", { hash: `sha1-${"0".repeat(40)}`, sizeBytes: 1n }],
  ["a negative size", { hash: `blake3-${"0".repeat(64)}`, sizeBytes: -1n }],
])("%s is refused", (_, { hash, sizeBytes }) => {
  const message = { ...toLoneDigest(digestOf(Buffer.from("blob"))), hash, sizeBytes };

  expect(() => fromLoneDigest(message, "a blob")).toThrow(
    expect.objectContaining({ code: "invalid_argument" }),
  );
});
