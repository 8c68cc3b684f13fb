import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type DigestFunction,
  digestFunctions,
  digestKey,
  emptyDigest,
  emptyDigestBy,
  functionOf,
  isEmptyDigest,
  parseDigestKey,
} from "#core/digest.ts";
import { digests, functions } from "./digest.fixture.ts";
import { digestOf, digestOfMany, startDigest } from "./digest-of.ts";

const abc = new TextEncoder().encode("abc");

test("names equal bytes equally", () => {
  const hello = new TextEncoder().encode("hello");

  expect(digestOf(hello)).toEqual(digestOf(hello.slice()));
  expect(digestOf(hello).hash).toMatch(/^2cf24dba5fb0a30e/);
});

// Values from the specifications of the functions.
test.each<[DigestFunction, string]>([
  ["sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  ["sha1", "sha1-a9993e364706816aba3e25717850c26c9cd0d89d"],
  ["md5", "md5-900150983cd24fb0d6963f7d28e17f72"],
  ["blake3", "blake3-6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"],
])("names abc by %s", (by, hash) => {
  expect(digestOf(abc, by)).toEqual({ hash, sizeBytes: 3 });
});

describe.each(digestFunctions)("by %s", (by) => {
  test("no bytes have the empty digest", () => {
    expect(digestOf(new Uint8Array(), by)).toEqual(emptyDigestBy(by));
    expect(startDigest(by).digest()).toEqual(emptyDigestBy(by));
    expect(isEmptyDigest(emptyDigestBy(by))).toBe(true);
    expect(isEmptyDigest({ ...digestOf(abc, by), sizeBytes: 0 })).toBe(false);
  });

  test("chunks have the digest of their whole, however they are cut and whatever goes on beside", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (chunks) => {
        const running = startDigest(by);
        const beside = startDigest(by);
        for (const chunk of chunks) {
          running.update(chunk);
          beside.update(abc);
        }

        expect(running.digest()).toEqual(digestOf(Buffer.concat(chunks), by));
        expect(beside.digest()).toEqual(digestOf(Buffer.concat(chunks.map(() => abc)), by));
      }),
    );
  });

  test("many bytes are named off the main thread, or in turns, as at once", async () => {
    const bytes = randomBytes(3 * 1024 * 1024);

    expect(await digestOfMany(bytes, by)).toEqual(digestOf(bytes, by));
    expect(await digestOfMany(bytes.subarray(7, 2_000_000), by)).toEqual(
      digestOf(bytes.subarray(7, 2_000_000), by),
    );
  });
});

test("a digest's key gives back the digest, and its function", () => {
  fc.assert(
    fc.property(digests, (digest) => {
      expect(parseDigestKey(digestKey(digest))).toEqual(digest);
    }),
  );
  fc.assert(
    fc.property(functions, fc.uint8Array(), (by, bytes) => {
      expect(functionOf(digestOf(bytes, by))).toBe(by);
    }),
  );
  expect(emptyDigest).toEqual(emptyDigestBy("sha256"));
});

test("bytes under two functions are two blobs", () => {
  expect(new Set(digestFunctions.map((by) => digestKey(digestOf(abc, by)))).size).toBe(6);
});

test.each([
  ["upper-case digits", `${"A".repeat(64)}/1`],
  ["SHA-256 by name", `sha256-${"a".repeat(64)}/1`],
  ["an unknown function", `sha3-${"a".repeat(64)}/1`],
  ["another function's length", `sha1-${"a".repeat(64)}/1`],
  ["no function at another length", `${"a".repeat(40)}/1`],
  ["a path", `../${"a".repeat(64)}/1`],
  ["a line behind it", `blake3-${"a".repeat(64)}\n/1`],
])("%s make no digest", (_, key) => {
  expect(() => parseDigestKey(key)).toThrow("a hash is");
});
