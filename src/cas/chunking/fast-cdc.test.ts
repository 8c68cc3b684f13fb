import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contentChunks } from "./content-chunks.ts";
import { type ChunkSizes, chunkSizesOf, fastCdcCutter } from "./fast-cdc.ts";

/** Bytes that are the same in every implementation: xorshift32 from Marsaglia's first number. */
function xorshiftBytes(count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  let x = 2_463_534_242;
  for (let at = 0; at < count; at++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    bytes[at] = (x >>> 16) & 0xff;
  }
  return bytes;
}

async function* inPieces(bytes: Uint8Array, pieceBytes: number) {
  for (let at = 0; at < bytes.byteLength; at += pieceBytes)
    yield bytes.subarray(at, at + pieceBytes);
}

async function chunksOf(
  bytes: Uint8Array,
  sizes: ChunkSizes,
  { seed = 0, pieceBytes = 64 * 1024 } = {},
): Promise<Uint8Array[]> {
  const cutter = fastCdcCutter(bytes.byteLength, sizes, seed);
  const chunks: Uint8Array[] = [];
  for await (const chunk of contentChunks(inPieces(bytes, pieceBytes), cutter, () => undefined)) {
    chunks.push(chunk);
  }
  return chunks;
}

const lengthsOf = (chunks: readonly Uint8Array[]) => chunks.map(({ byteLength }) => byteLength);

describe("the boundaries are those of the crate fastcdc 3.2.1 (v2020, level 2), which REv2 names", () => {
  const small = xorshiftBytes(100_001);
  test.each<[number, Uint8Array, ChunkSizes, number, number[]]>([
    [
      1_024,
      xorshiftBytes(24_633),
      chunkSizesOf(1_024),
      0,
      [
        1110, 1077, 1221, 1581, 1631, 972, 1326, 1264, 1159, 580, 1092, 1524, 1853, 1238, 1346,
        1061, 1263, 1106, 1033, 1196,
      ],
    ],
    [
      65_536,
      xorshiftBytes(798_777),
      chunkSizesOf(65_536),
      0,
      [69638, 66203, 71622, 48155, 43027, 100841, 72220, 89865, 101322, 56152, 79732],
    ],
    [
      524_288,
      xorshiftBytes(6_000_001),
      chunkSizesOf(524_288),
      0,
      [719045, 605218, 709906, 542518, 647355, 542596, 249611, 691095, 667117, 625540],
    ],
    [
      1_048_576,
      xorshiftBytes(6_000_001),
      chunkSizesOf(1_048_576),
      0,
      [719045, 1105669, 1431743, 1088692, 1223576, 431276],
    ],
    [
      4_096,
      small,
      chunkSizesOf(4_096),
      666,
      [
        2760, 5116, 1599, 3052, 4686, 5090, 4720, 1835, 4820, 6252, 5802, 4884, 4386, 4613, 4316,
        1862, 6211, 4918, 4398, 4628, 4200, 1284, 4513, 4056,
      ],
    ],
    [
      4_096,
      small,
      { ...chunkSizesOf(4_096), mostBytes: 16_383 },
      0,
      [
        4892, 7029, 5117, 4678, 5939, 5399, 4830, 5127, 4453, 8302, 4351, 4889, 4632, 3355, 2571,
        5683, 2250, 5646, 5385, 4267, 1206,
      ],
    ],
    [
      4_096,
      new Uint8Array(40_001),
      { ...chunkSizesOf(4_096), mostBytes: 16_383 },
      0,
      [16383, 16383, 7235],
    ],
  ])("average %i, case %#", async (_, bytes, sizes, seed, lengths) => {
    expect(lengthsOf(await chunksOf(bytes, sizes, { seed }))).toEqual(lengths);
  });
});

describe("chunks", () => {
  const sizes = chunkSizesOf(1_024);

  test("are the blob, within the sizes, however its bytes arrive", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(20_000),
        fc.integer({ min: 1, max: 5_000 }),
        // Few different bytes make chunks of all sizes: short ones and those that reach the maximum.
        fc.integer({ min: 1, max: 256 }),
        async (count, pieceBytes, different) => {
          const bytes = randomBytes(count).map((byte) => byte % different);

          const chunks = await chunksOf(bytes, sizes, { pieceBytes });

          expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
          expect(lengthsOf(chunks)).toEqual(lengthsOf(await chunksOf(bytes, sizes)));
          const lengths = lengthsOf(chunks);
          expect(lengths.every((length) => length > 0 && length <= sizes.mostBytes)).toBe(true);
          expect(lengths.slice(0, -1).every((length) => length >= sizes.leastBytes)).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("are mostly the same after bytes were inserted, removed or changed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(199_999),
        fc.nat(100),
        fc.uint8Array({ maxLength: 100 }),
        async (at, removed, inserted) => {
          const before = randomBytes(200_000);
          const after = Buffer.concat([
            before.subarray(0, at),
            inserted,
            before.subarray(at + removed),
          ]);

          const known = new Set((await chunksOf(before, sizes)).map(String));
          const changed = (await chunksOf(after, sizes)).filter((each) => !known.has(String(each)));

          // The changed chunk, and a few more until the boundaries meet again.
          const bytes = lengthsOf(changed).reduce((sum, length) => sum + length, 0);
          expect(bytes).toBeLessThan(40 * sizes.averageBytes);
        },
      ),
      { numRuns: 10 },
    );
  });

  test("of a blob without bytes are none", async () => {
    expect(await chunksOf(new Uint8Array(), sizes)).toEqual([]);
  });

  test("are not cut from more bytes than the blob has", () => {
    const cutter = fastCdcCutter(10, sizes);

    expect(cutter.endOfChunk(new Uint8Array(20), 0)).toBe(10);
    expect(() => cutter.endOfChunk(new Uint8Array(20), 10)).toThrow("longer than its digest");
  });
});
