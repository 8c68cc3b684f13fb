import { corrupt } from "./corrupt.ts";
import { readFseTable } from "./fse-table.ts";

const mostHuffmanBits = 11;

/** Each entry, indexed by the next `width` bits: a symbol in the low byte, its code length above. */
export interface HuffmanTable {
  readonly width: number;
  readonly entries: Uint16Array;
}

/** Reads the tree at `at` (RFC 8878, 4.2.1). */
export function readHuffmanTable(
  bytes: Uint8Array,
  at: number,
  limit: number,
): { readonly table: HuffmanTable; readonly end: number } {
  if (at >= limit) throw corrupt("a Huffman tree is too short");
  const header = bytes[at] as number;
  if (header >= 128) {
    const count = header - 127;
    const end = at + 1 + ((count + 1) >> 1);
    if (end > limit) throw corrupt("a Huffman tree is too short");
    const weights: number[] = [];
    for (let n = 0; n < count; n++) {
      const pair = bytes[at + 1 + (n >> 1)] as number;
      weights.push(n % 2 === 0 ? pair >> 4 : pair & 15);
    }
    return { table: tableOf(weights), end };
  }
  const end = at + 1 + header;
  if (end > limit) throw corrupt("a Huffman tree is too short");
  return { table: tableOf(compressedWeights(bytes, at + 1, end)), end };
}

/** Reads weights that two interleaved states have encoded, until the bits end. */
function compressedWeights(bytes: Uint8Array, at: number, end: number): number[] {
  const { table, end: start } = readFseTable(bytes, at, end, 6, 255);
  const last = start < end ? (bytes[end - 1] as number) : 0;
  if (last === 0) throw corrupt("a Huffman tree has no weights");
  let left = (end - start) * 8 - 1 - (Math.clz32(last) - 24);
  const take = (count: number) => {
    left -= count;
    // Bits before the beginning of a stream count as zeros.
    let value = 0;
    for (let n = 0; n < count; n++) {
      const bit = left + n;
      if (bit >= 0) value |= (((bytes[start + (bit >> 3)] as number) >> (bit & 7)) & 1) << n;
    }
    return value;
  };

  const weights: number[] = [];
  let now = take(table.accuracyLog);
  let other = take(table.accuracyLog);
  if (left < 0) throw corrupt("the weights of a Huffman tree are too short");
  for (;;) {
    weights.push(table.symbol[now] as number);
    if (weights.length > 254) throw corrupt("a Huffman tree has too many weights");
    const moved = (table.next[now] as number) + take(table.bits[now] as number);
    if (left < 0) {
      weights.push(table.symbol[other] as number);
      return weights;
    }
    now = other;
    other = moved;
  }
}

/** The last weight is implicit: it completes the sum to a power of two. */
function tableOf(weights: number[]): HuffmanTable {
  let sum = 0;
  for (const weight of weights) {
    if (weight > mostHuffmanBits) throw corrupt("a Huffman code is too long");
    if (weight > 0) sum += 1 << (weight - 1);
  }
  if (sum === 0) throw corrupt("a Huffman tree is empty");
  const width = 32 - Math.clz32(sum);
  const rest = (1 << width) - sum;
  if (width > mostHuffmanBits || (rest & (rest - 1)) !== 0)
    throw corrupt("a Huffman tree is incomplete");
  const all = [...weights, 32 - Math.clz32(rest)];

  const entries = new Uint16Array(1 << width);
  let at = 0;
  for (let weight = 1; weight <= width; weight++) {
    const length = 1 << (weight - 1);
    all.forEach((own, symbol) => {
      if (own !== weight) return;
      entries.fill(symbol | ((width + 1 - weight) << 8), at, at + length);
      at += length;
    });
  }
  return { width, entries };
}
