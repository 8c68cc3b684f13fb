import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { Fault } from "#core/fault.ts";
import { CommitIndexSchema } from "#proto/grange/granary/v1/granary_pb.ts";
import { decodeIndex, decodeIndexInTurns } from "./decode-index.ts";
import { encodeIndex } from "./encode-index.ts";
import { anyIndex, entry } from "./entries.fixture.ts";
import { indexLimits } from "./index-limits.ts";

const blob = digestOf(Buffer.from("blob"));

function message(entries: object[], more: object = {}): Uint8Array {
  return toBinary(
    CommitIndexSchema,
    create(CommitIndexSchema, { entries: entries as never, ...more }),
  );
}

const good = { result: { namespace: "ccache", key: "k" }, blobs: [toDigestMessage(blob)] };

test("an index that is encoded and decoded is unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(anyIndex, anyIndex, fc.boolean(), async (entries, removed, hasBase) => {
      const delta = {
        base: hasBase ? digestOf(Buffer.from("base"), "blake3") : undefined,
        entries,
        removed: removed.map(({ namespace, key }) => ({ namespace, key })),
      };

      const decoded = decodeIndex(encodeIndex(delta));

      expect(decoded).toEqual({ delta, unknownEntries: 0 });
      expect(await decodeIndexInTurns(encodeIndex(delta))).toEqual(decoded);
    }),
  );
});

test("parts of an entry above the limits are not encoded", () => {
  const blobs = Array.from({ length: 70 }, (_, at) => digestOf(Buffer.from(`${at}`)));
  const inputs = Array.from({ length: 1_000 }, (_, at) => `src/${at % 10}/${at}.c`);

  const { delta } = decodeIndex(
    encodeIndex({ base: undefined, entries: [entry("k", 0, { blobs, inputs })], removed: [] }),
  );

  expect(delta.entries[0]?.blobs).toEqual(blobs.slice(0, 64));
  expect(delta.entries[0]?.inputs).toEqual(Array.from({ length: 10 }, (_, at) => `src/${at}/`));
});

test("entries in namespaces of newer granaries are skipped and counted", () => {
  const newer = { ...good, result: { namespace: "from-the-future", key: "k" } };

  const { delta, unknownEntries } = decodeIndex(message([newer, good, newer]));

  expect(delta.entries.map(({ namespace }) => namespace)).toEqual(["ccache"]);
  expect(unknownEntries).toBe(2);
});

describe("an invalid index is rejected with the problem and its place", () => {
  const hash = blob.hash;
  test.each([
    [
      "a digest that is none",
      [good, { ...good, blobs: [{ hash: "ff", sizeBytes: 1n }] }],
      "entry 2",
    ],
    [
      "an upper-case hash",
      [{ ...good, blobs: [{ hash: hash.toUpperCase(), sizeBytes: 1n }] }],
      "hex",
    ],
    ["a negative size", [{ ...good, blobs: [{ hash, sizeBytes: -1n }] }], "-1 bytes"],
    ["a wrong BLAKE3", [{ ...good, blobs: [{ hash: "blake3-ff", sizeBytes: 1n }] }], "entry 1"],
    [
      "a huge BLAKE3",
      [{ ...good, blobs: [{ hash: `blake3-${hash}`, sizeBytes: -5n }] }],
      "entry 1",
    ],
    ["no blobs", [{ ...good, blobs: [] }], "no blobs"],
    ["too many blobs", [{ ...good, blobs: Array(65).fill(toDigestMessage(blob)) }], "65 blobs"],
    ["no key", [{ blobs: good.blobs }], "no key"],
    ["an empty key", [{ ...good, result: { namespace: "ccache", key: "" } }], "no key"],
    ["a long key", [{ ...good, result: { namespace: "nx", key: "x".repeat(1_025) } }], "no key"],
    ["a NUL in a key", [{ ...good, result: { namespace: "nx", key: "a\0b" } }], "no key"],
    ["too many inputs", [{ ...good, inputs: Array(257).fill("a") }], "257 inputs"],
    ["a long input", [{ ...good, inputs: ["a".repeat(1_025)] }], "input"],
  ])("%s", (_, entries, what) => {
    const decode = () => decodeIndex(message(entries));

    expect(decode).toThrow(what);
    expect(decode).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });

  test("a base that is not a digest", () => {
    expect(() => decodeIndex(message([], { base: { hash: "x", sizeBytes: 1n } }))).toThrow(
      "its base",
    );
  });

  test("a million entries, before all of them are decoded", () => {
    const writer = new BinaryWriter();
    const one = new Uint8Array(message([good])).subarray(2);
    for (let at = 0; at <= indexLimits.entries; at++) writer.tag(2, 2).bytes(one);

    expect(() => decodeIndex(writer.finish())).toThrow(`over ${indexLimits.entries} entries`);
  });

  test("empty messages, which would take a hundred times as much memory", () => {
    const nothing = new BinaryWriter();
    for (let at = 0; at < indexLimits.parts + 1; at++) nothing.tag(2, 2).bytes(new Uint8Array());
    const bytes = new BinaryWriter().tag(2, 2).bytes(nothing.finish()).finish();

    expect(() => decodeIndex(bytes)).toThrow("parts");
  });

  test("more than 64 MiB, without reading it", () => {
    expect(() => decodeIndex(new Uint8Array(indexLimits.bytes + 1))).toThrow("bytes, over");
  });

  test.each([8, 9, 13, 16, 17, 21, 24])(
    "repetitions of byte %i, which could look like an empty index",
    (byte) => {
      expect(() => decodeIndex(Buffer.alloc(4_000, byte))).toThrow(/index/);
    },
  );

  test("a length that exceeds the message", () => {
    expect(() => decodeIndex(Uint8Array.of(0x12, 0xff, 0xff, 0xff, 0xff, 0x07))).toThrow(
      "after the end",
    );
  });
});

test("any bytes give an index or a Fault", () => {
  const whole = encodeIndex({
    base: blob,
    entries: [entry("a"), entry("b")],
    removed: [entry("c")],
  });
  const cut = fc.nat(whole.length).map((at) => whole.slice(0, at));
  const changed = fc.tuple(fc.nat(whole.length - 1), fc.nat(255)).map(([at, byte]) => {
    const other = whole.slice();
    other[at] = byte;
    return other;
  });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), cut, changed), (bytes) => {
      expect(refusalOf(bytes)).toMatch(/^(none|invalid_argument)$/);
    }),
    { numRuns: 2_000 },
  );
});

function refusalOf(bytes: Uint8Array): string {
  try {
    decodeIndex(bytes);
    return "none";
  } catch (reason) {
    return reason instanceof Fault ? reason.code : String(reason);
  }
}
