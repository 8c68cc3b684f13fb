import { compress } from "@bokuweb/zstd-wasm";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { mostWindowBytes, ZstdDecoder } from "./zstd-decoder.ts";
import { zstdInWebAssembly } from "./zstd-frame.ts";

beforeAll(() => zstdInWebAssembly());

function unpack(packed: Uint8Array, mostBytes: number, cuts: readonly number[] = []): Buffer {
  const decoder = new ZstdDecoder(mostBytes);
  const parts: Uint8Array[] = [];
  const ends = [...cuts.map((cut) => cut % (packed.byteLength + 1)), packed.byteLength];
  let at = 0;
  for (const end of ends.toSorted((a, b) => a - b)) {
    parts.push(...decoder.push(packed.subarray(at, end)));
    at = end;
  }
  decoder.end();
  return Buffer.concat(parts);
}

/** Returns the outcome of decoding arbitrary bytes. */
function endOf(packed: Uint8Array, mostBytes: number): string {
  try {
    return unpack(packed, mostBytes).byteLength <= mostBytes ? "within bounds" : "beyond bounds";
  } catch (reason) {
    return reason instanceof Fault ? reason.code : String(reason);
  }
}

/** Generates typical input of compressors: runs, repetitions and noise. */
const content = fc
  .array(
    fc.record({
      seed: fc.uint8Array({ minLength: 1, maxLength: 300 }),
      times: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3_000 })),
    }),
    { maxLength: 12 },
  )
  .map((parts) =>
    Buffer.concat(parts.map(({ seed, times }) => Buffer.alloc(seed.byteLength * times, seed))),
  );

/** Returns a frame of one block of the given kind, with a window of 2 MiB. */
function frameOf(block: readonly number[], kind: 0 | 1 | 2, size = block.length): Uint8Array {
  const header = (size << 3) | (kind << 1) | 1;
  const magic = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
  return Uint8Array.of(...magic, header & 255, (header >> 8) & 255, header >> 16, ...block);
}

describe("what compressors write", () => {
  test("comes out as it was, however it is packed, framed and cut up", () => {
    const frame = fc.record({ bytes: content, level: fc.integer({ min: -5, max: 20 }) });
    const cuts = fc.array(fc.nat(), { maxLength: 20 });
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 4 }), cuts, (frames, places) => {
        const whole = Buffer.concat(frames.map(({ bytes }) => bytes));
        const packed = Buffer.concat(frames.map(({ bytes, level }) => compress(bytes, level)));

        expect(unpack(packed, whole.byteLength, places).equals(whole)).toBe(true);
      }),
      { numRuns: 80 },
    );
  });

  test("comes out as it was from frames of many blocks, whose tables are used again", () => {
    // Text of few words, so that blocks reuse the trees and tables of earlier blocks.
    let state = 1;
    const words = Array.from({ length: 300_000 }, () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return `w${(state >> 8) % 700}`;
    });
    const text = Buffer.from(words.join(" "));

    for (const level of [1, 3, 9, 19]) {
      expect(unpack(compress(text, level), text.byteLength).equals(text)).toBe(true);
    }
  });

  test("comes out a byte at a time, too", () => {
    const bytes = Buffer.alloc(5_000, "all work and no play ");
    const packed = compress(bytes, 3);
    const cuts = Array.from({ length: packed.byteLength }, (_, n) => n);

    expect(unpack(packed, bytes.byteLength, cuts).equals(bytes)).toBe(true);
  });

  test.each([
    ["a block of one byte over and over", frameOf([120], 1, 1_000), "x".repeat(1_000)],
    ["a plain block", frameOf([104, 105], 0), "hi"],
    ["an empty block", frameOf([], 0), ""],
  ])("may be %s", (_, packed, expected) => {
    expect(unpack(packed, 1_000).toString()).toBe(expected);
  });

  test("may have frames to be passed over, and checksums", () => {
    const skipped = Uint8Array.of(0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9);
    const checked = Uint8Array.of(...frameOf([104, 105], 0), 1, 2, 3, 4);
    checked[4] = 4;

    expect(unpack(Buffer.concat([skipped, checked, skipped, checked]), 4).toString()).toBe("hihi");
  });

  test("holds a window or two, however much comes out", () => {
    const mebibyte = compress(Buffer.alloc(128 * 1024, "a line\n"), 1);
    const decoder = new ZstdDecoder(2 ** 30);
    let bytes = 0;
    for (let n = 0; n < 200; n++) {
      for (const part of decoder.push(mebibyte)) bytes += part.byteLength;
    }

    expect(bytes).toBe(200 * 128 * 1024);
    expect(decoder.heldBytes).toBeLessThan(1024 * 1024);
  });
});

describe("what strangers write", () => {
  test("is refused as such or unpacked within its bounds, and never anything else", () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(content, fc.integer({ min: -5, max: 19 }), changes, (bytes, level, changed) => {
        const packed = Uint8Array.from(compress(bytes, level));
        for (const [at, value] of changed) packed[at % packed.byteLength] = value;
        expect(endOf(packed, 100_000)).toMatch(/^(within bounds|invalid_argument)$/);
      }),
      { numRuns: 500 },
    );
  });

  test("is refused wherever it is cut short", () => {
    const packed = Buffer.concat([
      compress(Buffer.from("first"), 3),
      compress(Buffer.alloc(5_000, "second "), 3),
    ]);
    const first = compress(Buffer.from("first"), 3).byteLength;

    for (let end = 1; end < packed.byteLength; end++) {
      if (end === first) continue;
      expect(() => unpack(packed.subarray(0, end), 10_000)).toThrow("is invalid");
    }
  });

  test("is stopped as soon as it unpacks to more than it was said to", () => {
    const bomb = Buffer.concat(Array.from({ length: 100 }, () => frameOf([0], 1, 128 * 1024)));
    const decoder = new ZstdDecoder(200_000);
    let bytes = 0;

    expect(() => {
      for (const part of decoder.push(bomb)) bytes += part.byteLength;
    }).toThrow("more than the 200000 bytes");
    expect(bytes).toBeLessThanOrEqual(200_000);
  });

  test("is refused by its first bytes when it says itself that it is too much", () => {
    const packed = compress(Buffer.alloc(300_000), 3);

    expect(() => unpack(packed.subarray(0, 18), 200_000)).toThrow("more than the 200000 bytes");
  });

  test("gets no window that is larger than windows need to be", () => {
    const frame = (descriptor: number) => {
      const bytes = frameOf([104, 105], 0);
      bytes[5] = descriptor;
      return bytes;
    };

    expect(unpack(frame(13 << 3), 10).toString()).toBe("hi");
    expect(() => unpack(frame((13 << 3) + 1), 10)).toThrow(`at most ${mostWindowBytes}`);
    expect(() => unpack(frame(21 << 3), 10)).toThrow(`at most ${mostWindowBytes}`);
  });

  test.each([
    ["no zstd at all", Buffer.from("PK\u0003\u0004 a zip file it seems")],
    ["a block of no known kind", frameOf([0], 3 as 2)],
    ["a block over 128 KiB", frameOf([], 0, 200_000)],
    ["an offset before the beginning", frameOf([0x00, 1, 0x54, 0, 2, 0, 1], 2)],
  ])("is refused when it is %s", (_, packed) => {
    expect(() => unpack(packed, 1_000_000)).toThrow("is invalid");
  });

  test("cannot make long work of a short block", () => {
    // 40,000 sequences, each of 128 KiB, in 58 bytes: another decoder took 50 s for it.
    const count = 40_000 - 0x7f00;
    const block = [0, 255, count & 255, count >> 8, 0x54, 0, 2, 52, ...Buffer.alloc(40), 1];
    const start = performance.now();

    expect(() => unpack(frameOf(block, 2), 1_000_000)).toThrow("is invalid");
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
