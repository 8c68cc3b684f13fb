import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyDigest } from "#core/digest.ts";
import { digestOf, digestOfMany, startDigest } from "./digest-of.ts";

test("names equal bytes equally", () => {
  const hello = new TextEncoder().encode("hello");

  expect(digestOf(hello)).toEqual(digestOf(hello.slice()));
  expect(digestOf(hello).hash).toMatch(/^2cf24dba5fb0a30e/);
});

test("no bytes have the empty digest", () => {
  expect(digestOf(new Uint8Array())).toEqual(emptyDigest);
  expect(startDigest().digest()).toEqual(emptyDigest);
});

test("chunks have the digest of their whole, however they are cut", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (chunks) => {
      const running = startDigest();
      for (const chunk of chunks) running.update(chunk);

      expect(running.digest()).toEqual(digestOf(Buffer.concat(chunks)));
    }),
  );
});

test("many bytes are named off the main thread as on it", async () => {
  const bytes = randomBytes(3 * 1024 * 1024);

  expect(await digestOfMany(bytes)).toEqual(digestOf(bytes));
  expect(await digestOfMany(bytes.subarray(7, 2_000_000))).toEqual(
    digestOf(bytes.subarray(7, 2_000_000)),
  );
});
