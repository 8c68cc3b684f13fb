import type { BlockHistory } from "./block.ts";
import { corrupt } from "./corrupt.ts";
import { type HuffmanTable, readHuffmanTable } from "./huffman-table.ts";
import { literalScratch, paddingBytes, scratch, scratchView } from "./scratch.ts";

/** A block's literals, and the start of its sequences. */
interface Literals {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly end: number;
}

/** Reads the literals of the block that is in the scratch buffer and ends at `end` (RFC 8878, 3.1.1.3.1). */
export function readLiterals(end: number, history: BlockHistory, mostBytes: number): Literals {
  let at = paddingBytes;
  if (end - at < 2) throw corrupt("a block is too short for its literals section");
  const word = scratchView.getUint32(at, true);
  const kind = word & 3;
  const format = (word >>> 2) & 3;

  if (kind < 2) {
    const headerBytes = format === 1 ? 2 : format === 3 ? 3 : 1;
    const count =
      format === 1
        ? (word >>> 4) & 0xfff
        : format === 3
          ? (word >>> 4) & 0xfffff
          : (word >>> 3) & 31;
    at += headerBytes;
    const stored = kind === 0 ? count : 1;
    if (count > mostBytes || at + stored > end) throw corrupt("a block has too many literals");
    if (kind === 0) return { bytes: scratch.subarray(at, at + count), count, end: at + count };
    literalScratch.fill(scratch[at] as number, 0, count);
    return { bytes: literalScratch, count, end: at + 1 };
  }

  const wide = format < 2 ? 10 : format === 2 ? 14 : 18;
  const header = wide === 10 ? 3 : wide === 14 ? 4 : 5;
  const all = (BigInt(scratchView.getUint32(at + 1, true)) << 8n) | BigInt(scratch[at] as number);
  const mask = (1n << BigInt(wide)) - 1n;
  const count = Number((all >> 4n) & mask);
  const size = Number((all >> BigInt(4 + wide)) & mask);
  at += header;
  const until = at + size;
  if (count > mostBytes || until > end) throw corrupt("a block has too many literals");
  if (kind === 2) {
    const read = readHuffmanTable(scratch, at, until);
    history.huffman = read.table;
    at = read.end;
  }
  const table = history.huffman;
  if (table === undefined)
    throw corrupt("a block repeats a Huffman tree, but no earlier block has one");
  if (format === 0) decodeStream(table, at, until, 0, count);
  else decodeFour(table, at, until, count);
  return { bytes: literalScratch, count, end: until };
}

function decodeFour(table: HuffmanTable, at: number, until: number, count: number): void {
  const first = at + 6;
  if (first > until) throw corrupt("the literals of a block are too short");
  const each = (count + 3) >> 2;
  let from = first;
  for (let n = 0; n < 4; n++) {
    const end = n === 3 ? until : from + scratchView.getUint16(at + 2 * n, true);
    const stop = n === 3 ? count : each * (n + 1);
    if (end > until || stop > count) throw corrupt("the literals of a block are too short");
    decodeStream(table, from, end, each * n, stop);
    from = end;
  }
}

/** Decodes one stream of codes, which is read from its end. */
function decodeStream(
  { width, entries }: HuffmanTable,
  from: number,
  end: number,
  start: number,
  stop: number,
): void {
  const last = from < end ? (scratch[end - 1] as number) : 0;
  if (last === 0) throw corrupt("the bit stream of the literals has no end mark");
  const floor = from * 8;
  const out = literalScratch;
  const view = scratchView;
  const mask = (1 << width) - 1;
  const second = 24 - width;
  let bits = (end - 1) * 8 + 31 - Math.clz32(last);
  let at = start;
  // 24 bits hold two codes.
  const pairs = stop - 1;
  const safe = floor + 24;
  while (at < pairs && bits >= safe) {
    const low = bits - 24;
    const word = view.getUint32(low >>> 3, true) >>> (low & 7);
    const entry = entries[(word >>> second) & mask] as number;
    const used = entry >>> 8;
    const other = entries[(word >>> (second - used)) & mask] as number;
    out[at] = entry;
    out[at + 1] = other;
    at += 2;
    bits -= used + (other >>> 8);
  }
  while (at < stop && bits > floor) {
    const low = bits - width;
    // Bits before the beginning of a stream count as zeros, although the memory there contains the table or other
    // streams.
    const word = (view.getUint32(low >>> 3, true) >>> (low & 7)) & mask;
    const entry = entries[low < floor ? word & ~((1 << (floor - low)) - 1) : word] as number;
    out[at++] = entry;
    bits -= entry >>> 8;
  }
  if (at !== stop || bits !== floor)
    throw corrupt("the bit stream of the literals has unused bits");
}
