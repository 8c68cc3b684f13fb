import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeUtf8Prefix } from "./utf8-prefix.ts";

test("text cut anywhere comes out whole", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(), (text, at) => {
      const bytes = Buffer.from(text);
      const cut = bytes.length === 0 ? 0 : at % (bytes.length + 1);

      const first = decodeUtf8Prefix(bytes.subarray(0, cut), false);
      const rest = decodeUtf8Prefix(bytes.subarray(first.bytes), true);

      expect(first.text + rest.text).toBe(text);
    }),
  );
});

test("bytes that are no text do not hold the stream up", () => {
  const garbage = Uint8Array.from({ length: 100 }, () => 0x80);

  expect(decodeUtf8Prefix(garbage, false).bytes).toBe(100);
});
