import { corrupt } from "./corrupt.ts";
import { constantFseTable, type FseTable, readFseTable } from "./fse-table.ts";
import { type HuffmanTable } from "./huffman-table.ts";
import { readLiterals } from "./literals.ts";
import { paddingBytes, scratch, scratchView } from "./scratch.ts";
import {
  defaultLiteralLengths,
  defaultMatchLengths,
  defaultOffsets,
  literalBase,
  literalBits,
  matchBase,
  matchBits,
} from "./sequence-codes.ts";

/** The state that one block of a frame passes to the next. */
export interface BlockHistory {
  huffman: HuffmanTable | undefined;
  literalLengths: FseTable | undefined;
  offsets: FseTable | undefined;
  matchLengths: FseTable | undefined;
  /** The three last used offsets. */
  readonly recent: [number, number, number];
}

export function freshHistory(): BlockHistory {
  return {
    huffman: undefined,
    literalLengths: undefined,
    offsets: undefined,
    matchLengths: undefined,
    recent: [1, 4, 8],
  };
}

/** Offsets need at most this many bits, because windows have at most 8 MiB. */
const mostOffsetCode = 24;

/**
 * Decodes the block of `size` bytes in the scratch buffer, and appends the result to `out` at `at`; returns the new
 * end. `since` is the start of the bytes that the block may refer to.
 *
 * No length in the block is trusted: all are checked against `mostBytes` before a byte is copied, so that the work is
 * limited by the size of the output.
 */
export function decodeBlock(
  size: number,
  out: Uint8Array,
  at: number,
  since: number,
  mostBytes: number,
  history: BlockHistory,
): number {
  const end = paddingBytes + size;
  const literals = readLiterals(end, history, mostBytes);
  let from = literals.end;
  if (from >= end) throw corrupt("the sequences section of a block is missing");
  let count = scratch[from++] as number;
  if (count >= 128) {
    if (count === 255) {
      count = (scratch[from] as number) + ((scratch[from + 1] as number) << 8) + 0x7f00;
      from += 2;
    } else count = ((count - 128) << 8) + (scratch[from++] as number);
  }
  const literal = literals.bytes;
  if (count === 0) {
    if (from !== end) throw corrupt("a block without sequences has bytes after its literals");
    out.set(literal.subarray(0, literals.count), at);
    return at + literals.count;
  }

  const modes = scratch[from++] as number;
  if ((modes & 3) !== 0)
    throw corrupt("the reserved bits of the symbol compression modes are not 0");
  const tableFor = (
    mode: number,
    usual: FseTable,
    last: FseTable | undefined,
    mostAccuracy: number,
    mostSymbol: number,
  ): FseTable => {
    if (mode === 0) return usual;
    if (mode === 3) {
      if (last === undefined)
        throw corrupt("a block repeats an FSE table, but no earlier block has one");
      return last;
    }
    if (mode === 1) {
      const symbol = scratch[from++] as number;
      if (from > end || symbol > mostSymbol) throw corrupt("a block has an invalid RLE symbol");
      return constantFseTable(symbol);
    }
    const read = readFseTable(scratch, from, end, mostAccuracy, mostSymbol);
    from = read.end;
    return read.table;
  };
  const lengths = tableFor(modes >> 6, defaultLiteralLengths, history.literalLengths, 9, 35);
  const offsets = tableFor((modes >> 4) & 3, defaultOffsets, history.offsets, 8, 31);
  const matches = tableFor((modes >> 2) & 3, defaultMatchLengths, history.matchLengths, 9, 52);
  history.literalLengths = lengths;
  history.offsets = offsets;
  history.matchLengths = matches;

  const last = from < end ? (scratch[end - 1] as number) : 0;
  if (last === 0) throw corrupt("the bit stream of the sequences has no end mark");
  const floor = from * 8;
  let bits = (end - 1) * 8 + 31 - Math.clz32(last);
  const view = scratchView;

  const lengthSymbols = lengths.symbol;
  const lengthSteps = lengths.bits;
  const lengthNext = lengths.next;
  const offsetSymbols = offsets.symbol;
  const offsetSteps = offsets.bits;
  const offsetNext = offsets.next;
  const matchSymbols = matches.symbol;
  const matchSteps = matches.bits;
  const matchNext = matches.next;

  bits -= lengths.accuracyLog;
  let lengthState =
    (view.getUint32(bits >>> 3, true) >>> (bits & 7)) & ((1 << lengths.accuracyLog) - 1);
  bits -= offsets.accuracyLog;
  let offsetState =
    (view.getUint32(bits >>> 3, true) >>> (bits & 7)) & ((1 << offsets.accuracyLog) - 1);
  bits -= matches.accuracyLog;
  let matchState =
    (view.getUint32(bits >>> 3, true) >>> (bits & 7)) & ((1 << matches.accuracyLog) - 1);

  let [recent0, recent1, recent2] = history.recent;
  let position = at;
  const positionLimit = at + mostBytes;
  let next = 0;
  const literalCount = literals.count;

  for (let n = count; n > 0; n--) {
    const offsetCode = offsetSymbols[offsetState] as number;
    const matchCode = matchSymbols[matchState] as number;
    const lengthCode = lengthSymbols[lengthState] as number;
    if (offsetCode > mostOffsetCode) throw corrupt("an offset code is too large");

    bits -= offsetCode;
    let offset =
      (1 << offsetCode) +
      ((view.getUint32(bits >>> 3, true) >>> (bits & 7)) & ((1 << offsetCode) - 1));
    let width = matchBits[matchCode] as number;
    bits -= width;
    const matchLength =
      (matchBase[matchCode] as number) +
      ((view.getUint32(bits >>> 3, true) >>> (bits & 7)) & ((1 << width) - 1));
    width = literalBits[lengthCode] as number;
    bits -= width;
    const literalLength =
      (literalBase[lengthCode] as number) +
      ((view.getUint32(bits >>> 3, true) >>> (bits & 7)) & ((1 << width) - 1));
    if (n > 1) {
      width = lengthSteps[lengthState] as number;
      bits -= width;
      lengthState =
        (lengthNext[lengthState] as number) +
        ((view.getUint32(bits >>> 3, true) >>> (bits & 7)) & ((1 << width) - 1));
      width = matchSteps[matchState] as number;
      bits -= width;
      matchState =
        (matchNext[matchState] as number) +
        ((view.getUint32(bits >>> 3, true) >>> (bits & 7)) & ((1 << width) - 1));
      width = offsetSteps[offsetState] as number;
      bits -= width;
      offsetState =
        (offsetNext[offsetState] as number) +
        ((view.getUint32(bits >>> 3, true) >>> (bits & 7)) & ((1 << width) - 1));
    }
    // One sequence reads at most 82 bits; the padding in front of the block is larger.
    if (bits < floor) throw corrupt("the bit stream of the sequences is too short");

    if (offset > 3) {
      offset -= 3;
      recent2 = recent1;
      recent1 = recent0;
      recent0 = offset;
    } else {
      const which = literalLength === 0 ? offset + 1 : offset;
      if (which === 1) offset = recent0;
      else if (which === 2) {
        offset = recent1;
        recent1 = recent0;
        recent0 = offset;
      } else {
        offset = which === 3 ? recent2 : recent0 - 1;
        recent2 = recent1;
        recent1 = recent0;
        recent0 = offset;
      }
    }

    const matchAt = position + literalLength;
    const matchEnd = matchAt + matchLength;
    if (next + literalLength > literalCount)
      throw corrupt("a block has fewer literals than its sequences need");
    if (matchEnd > positionLimit) throw corrupt("a block exceeds the maximum block size");
    if (offset <= 0 || matchAt - offset < since)
      throw corrupt("an offset is 0, or larger than the window");
    if (literalLength < 48) {
      while (position < matchAt) out[position++] = literal[next++] as number;
    } else {
      out.set(literal.subarray(next, next + literalLength), position);
      position = matchAt;
      next += literalLength;
    }
    let source = position - offset;
    if (matchLength < 48 || offset < matchLength) {
      while (position < matchEnd) out[position++] = out[source++] as number;
    } else {
      out.copyWithin(position, source, source + matchLength);
      position = matchEnd;
    }
  }
  if (bits !== floor) throw corrupt("the bit stream of the sequences has unused bits");
  history.recent[0] = recent0;
  history.recent[1] = recent1;
  history.recent[2] = recent2;

  const rest = literalCount - next;
  if (position + rest > positionLimit) throw corrupt("a block exceeds the maximum block size");
  out.set(literal.subarray(next, literalCount), position);
  return position + rest;
}
