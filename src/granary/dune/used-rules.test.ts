import fc from "fast-check";
import { expect, test } from "vitest";
import { DuneDigest } from "./dune-digest.ts";
import { keysIn } from "./used-rules.ts";

const digest = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => DuneDigest.parse(Buffer.from(bytes).toString("hex")));

/** Returns a text of sixteen bytes as OCaml marshals it. */
function marshalled(key: DuneDigest): Buffer {
  return Buffer.concat([Buffer.of(0x30), Buffer.from(key, "hex")]);
}

test("finds every key, whatever is between them, and nothing else", () => {
  const between = fc.uint8Array({ maxLength: 40 });
  fc.assert(
    fc.property(fc.array(fc.tuple(between, digest)), fc.array(digest), (inside, outside) => {
      const keys = new Set(inside.map(([, key]) => key));
      const books = Buffer.concat(inside.flatMap(([noise, key]) => [noise, marshalled(key)]));
      const known = new Set([...keys, ...outside]);

      expect(new Set(keysIn(books, (key) => known.has(key)))).toEqual(
        new Set([...known].filter((key) => books.includes(marshalled(key)))),
      );
    }),
  );
});

test("records that end in the middle of a key do not contain it", () => {
  const key = DuneDigest.parse("abbb2ff0d1d3d587ddfb94a69e0fd70e");

  expect(keysIn(marshalled(key).subarray(0, 16), () => true)).toEqual([]);
});
