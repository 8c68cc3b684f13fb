import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type DigestFunction, functionOf } from "#core/digest.ts";
import {
  DigestFunction_Value,
  DigestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { digests } from "./digest.fixture.ts";
import { fromDigestMessage, functionValueOf, toDigestMessage } from "./digest-message.ts";
import { digestOf } from "./digest-of.ts";

const bytes = new Uint8Array([1, 2, 3]);

test("a digest that went out comes back the same, when its function is told", () => {
  fc.assert(
    fc.property(digests, (digest) => {
      const message = toDigestMessage(digest);

      expect(message.hash).toMatch(/^[0-9a-f]+$/);
      expect(fromDigestMessage(message, "it", functionValueOf(digest))).toEqual(digest);
      expect(fromDigestMessage(message, "it", functionOf(digest))).toEqual(digest);
    }),
  );
});

test.each<DigestFunction>(["sha256", "sha1", "sha384", "sha512", "md5"])(
  "without a function, the length tells %s",
  (by) => {
    const digest = digestOf(bytes, by);

    expect(fromDigestMessage(toDigestMessage(digest), "it")).toEqual(digest);
    expect(fromDigestMessage(toDigestMessage(digest), "it", DigestFunction_Value.UNKNOWN)).toEqual(
      digest,
    );
  },
);

test("without a function, BLAKE3 is taken for SHA-256", () => {
  const message = toDigestMessage(digestOf(bytes, "blake3"));

  expect(functionOf(fromDigestMessage(message, "it"))).toBe("sha256");
});

const { SHA1, SHA256, BLAKE3, GITSHA1, VSO } = DigestFunction_Value;
const sha256 = digestOf(bytes).hash;

test.each<[string, string, bigint, DigestFunction_Value, string]>([
  ["a length that is no function's", "abc", 1n, 0, "is not a hash in lower-case"],
  ["a length that is another function's", sha256, 1n, SHA1, "is not a sha1 hash"],
  ["what is no hex", "x".repeat(64), 1n, BLAKE3, "is not a blake3 hash"],
  ["a name of our own", digestOf(bytes, "blake3").hash, 1n, BLAKE3, "is not a blake3 hash"],
  ["a negative size", sha256, -1n, SHA256, "cannot have -1 bytes"],
  ["a size beyond counting", sha256, 2n ** 53n, SHA256, "cannot have 9007199254740992 bytes"],
  [
    "a function that we lack",
    "a".repeat(40),
    1n,
    GITSHA1,
    "function GITSHA1; this server knows SHA256, SHA1, SHA384, SHA512, MD5, BLAKE3",
  ],
  ["another one", "a".repeat(66), 1n, VSO, "function VSO"],
  ["a function of the future", sha256, 1n, 99 as DigestFunction_Value, "function 99"],
])("refuses %s", (_, hash, sizeBytes, asked, problem) => {
  const message = create(DigestSchema, { hash, sizeBytes });

  expect(() => fromDigestMessage(message, "the blob", asked)).toThrow(problem);
  expect(() => fromDigestMessage(message, "the blob", asked)).toThrow(/^the blob has/);
});
