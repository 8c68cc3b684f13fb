import { createHash } from "node:crypto";

/** The sizes of the chunks of one blob. Only the last chunk may be smaller than `leastBytes`. */
export interface ChunkSizes {
  readonly leastBytes: number;
  /** A power of 2, as the masks need it. */
  readonly averageBytes: number;
  readonly mostBytes: number;
}

/** REv2 derives the other sizes from the average: a quarter of it, and four times as much. */
export function chunkSizesOf(averageBytes: number): ChunkSizes {
  return { leastBytes: averageBytes / 4, averageBytes, mostBytes: averageBytes * 4 };
}

/** Finds the ends of the chunks of one blob whose bytes arrive in pieces. */
export interface ChunkCutter {
  /**
   * Returns the offset in `piece` behind the last byte of the current chunk; undefined when the chunk continues in the
   * next piece. The next call continues at the returned offset. An offset equal to `from` means that the chunk ended
   * with the piece before.
   *
   * @param from where the bytes begin that were not searched yet
   */
  endOfChunk(piece: Uint8Array, from: number): number | undefined;
}

/**
 * Returns a cutter by FastCDC in the version of 2020 (Wen Xia et al., https://ieeexplore.ieee.org/document/9055082),
 * with normalization level 2, as REv2 prescribes: a boundary is before the byte where the rolling hash of the bytes of
 * the chunk has zeros at the places of a mask. The mask has more places before the average size than after it, so most
 * chunks are near the average.
 *
 * The first `leastBytes` of a chunk are not hashed. Of a chunk of an odd maximum size, the last byte is not examined:
 * the reference examines two bytes at a time.
 *
 * @param blobBytes the size of the blob: the last chunk depends on it
 */
export function fastCdcCutter(
  blobBytes: number,
  { leastBytes, averageBytes, mostBytes }: ChunkSizes,
  seed = 0,
): ChunkCutter {
  const bits = Math.log2(averageBytes);
  const [strict, loose] = [maskOf(bits + normalization), maskOf(bits - normalization)];
  const gear = gearTable(seed);
  /** The bytes from the beginning of the current chunk to the end of the blob. */
  let leftBytes = blobBytes;
  /** The bytes of the current chunk in earlier pieces. */
  let passed = 0;
  /** The rolling hash of the current chunk in earlier pieces. */
  let hash: Halves = { low: 0, high: 0 };

  return {
    endOfChunk(piece, from) {
      const most = Math.min(leftBytes, mostBytes);
      if (most === 0) throw new Error("the blob is longer than its digest states");
      /** Where the chunk begins, as an offset in this piece; negative when it began in an earlier one. */
      const start = from - passed;
      const stop = Math.min(start + most, piece.byteLength);
      const examined = Math.min(start + (most & ~1), stop);
      const center = Math.min(start + averageBytes, examined);

      const first = Math.min(Math.max(from, start + leastBytes), examined);
      let found = search(piece, { from: first, to: center }, gear, strict, hash);
      if (!found.isBoundary) {
        const rest = { from: Math.max(first, center), to: examined };
        found = search(piece, rest, gear, loose, found.hash);
      }
      const end = found.isBoundary ? found.at : start + most;
      if (end > stop) {
        passed = stop - start;
        hash = found.hash;
        return undefined;
      }
      leftBytes -= end - start;
      passed = 0;
      hash = { low: 0, high: 0 };
      return end;
    },
  };
}

/** A rolling hash or a mask, as two numbers of 24 bits: no mask has bits above 48, and twice a half fits 32 bits. */
interface Halves {
  readonly low: number;
  readonly high: number;
}

interface Found {
  readonly isBoundary: boolean;
  readonly at: number;
  readonly hash: Halves;
}

/** Searches a part of a piece for the first byte where the hash has zeros at the places of the mask. */
function search(
  piece: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
  gear: GearTable,
  mask: Halves,
  hash: Halves,
): Found {
  // Local variables, because properties in this loop would take twice the time.
  const { low: gearLow, high: gearHigh } = gear;
  const { low: maskLow, high: maskHigh } = mask;
  let { low, high } = hash;
  let at = from;
  for (; at < to; at++) {
    const byte = piece[at] as number;
    low = (low << 1) + (gearLow[byte] as number);
    high = ((high << 1) + (gearHigh[byte] as number) + (low >>> 24)) & mask24;
    low &= mask24;
    if (((low & maskLow) | (high & maskHigh)) === 0) {
      return { isBoundary: true, at, hash: { low, high } };
    }
  }
  return { isBoundary: false, at, hash: { low, high } };
}

/** REv2 prescribes this level. */
const normalization = 2;
const mask24 = 0xff_ff_ff;

/** The masks of the authors' C implementation, by their number of bits; REv2's averages of 1 KiB to 1 MiB need these. */
const masks: Readonly<Record<number, bigint>> = {
  8: 0x0000_0018_0003_5300n,
  9: 0x0000_0190_0035_3000n,
  10: 0x0000_5900_0353_0000n,
  11: 0x0000_d900_0353_0000n,
  12: 0x0000_d901_0353_0000n,
  13: 0x0000_d903_0353_0000n,
  14: 0x0000_d903_1353_0000n,
  15: 0x0000_d90f_0353_0000n,
  16: 0x0000_d903_0353_7000n,
  17: 0x0000_d907_0353_7000n,
  18: 0x0000_d907_0753_7000n,
  19: 0x0000_d917_0753_7000n,
  20: 0x0000_d917_4753_7000n,
  21: 0x0000_d917_6753_7000n,
  22: 0x0000_d937_6753_7000n,
};

function maskOf(bits: number): Halves {
  const mask = masks[bits];
  if (mask === undefined) {
    throw new Error(`chunks cannot have an average of 2^${bits - normalization} bytes`);
  }
  return halvesOf(mask);
}

function halvesOf(value: bigint): Halves {
  return { low: Number(value & 0xff_ff_ffn), high: Number((value >> 24n) & 0xff_ff_ffn) };
}

interface GearTable {
  readonly low: Int32Array;
  readonly high: Int32Array;
}

const tables = new Map<number, GearTable>();

/**
 * Returns a number of 64 bits for each byte, changed by the seed, of which the masks need the lower 48.
 *
 * It is the start of the MD5 of 64 bytes of that value. The text of REv2 says "MD5(byte(i))"; its test vectors and the
 * implementations that it names repeat the byte, as the authors' C implementation does.
 */
function gearTable(seed: number): GearTable {
  const known = tables.get(seed);
  if (known !== undefined) return known;
  const table = { low: new Int32Array(256), high: new Int32Array(256) };
  for (let byte = 0; byte < 256; byte++) {
    const md5 = createHash("md5").update(new Uint8Array(64).fill(byte)).digest();
    const { low, high } = halvesOf(md5.readBigUInt64BE(0) ^ BigInt(seed));
    table.low[byte] = low;
    table.high[byte] = high;
  }
  tables.set(seed, table);
  return table;
}
