import { corrupt } from "./corrupt.ts";

/** A state machine that turns bits into symbols (RFC 8878, 4.1). Each state is an index. */
export interface FseTable {
  readonly accuracyLog: number;
  readonly symbol: Uint8Array;
  /** The number of bits that are read when leaving a state, and the value that is added to them for the next state. */
  readonly bits: Uint8Array;
  readonly next: Uint16Array;
}

/** A table description and its end. */
interface FseDescription {
  readonly table: FseTable;
  readonly end: number;
}

/** Reads the probabilities at `at` and builds their table. */
export function readFseTable(
  bytes: Uint8Array,
  at: number,
  limit: number,
  mostAccuracy: number,
  mostSymbol: number,
): FseDescription {
  let position = at * 8;
  const end = limit * 8;
  const peek = (count: number) => {
    const byte = position >>> 3;
    const word =
      (bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8) | ((bytes[byte + 2] ?? 0) << 16);
    return (word >>> (position & 7)) & ((1 << count) - 1);
  };
  const take = (count: number) => {
    const value = peek(count);
    position += count;
    if (position > end) throw corrupt("an FSE table is too short");
    return value;
  };

  const accuracyLog = take(4) + 5;
  if (accuracyLog > mostAccuracy)
    throw corrupt(`the accuracy of an FSE table, ${accuracyLog}, is above ${mostAccuracy}`);
  const counts: number[] = [];
  let left = 1 << accuracyLog;
  while (left > 0) {
    // Values from 0 to left + 1 are possible; the lower ones need one bit less.
    const width = 32 - Math.clz32(left + 1);
    const spare = (1 << width) - 1 - (left + 1);
    const low = peek(width - 1);
    let value: number;
    if (low < spare) value = take(width - 1);
    else {
      value = take(width);
      if (value >= 1 << (width - 1)) value -= spare;
    }
    const count = value - 1;
    counts.push(count);
    left -= Math.abs(count);
    if (count === 0) {
      for (let zeros = take(2); ; zeros = take(2)) {
        for (let n = 0; n < zeros; n++) counts.push(0);
        if (zeros < 3) break;
      }
    }
    if (counts.length > mostSymbol + 1) throw corrupt("an FSE table has too many symbols");
  }
  if (left < 0) throw corrupt("the probabilities of an FSE table add up to more than 1");
  return { table: fseTable(counts, accuracyLog), end: (position + 7) >>> 3 };
}

/** Returns the table of these probabilities; -1 stands for "less than one". */
export function fseTable(counts: readonly number[], accuracyLog: number): FseTable {
  const size = 1 << accuracyLog;
  const symbol = new Uint8Array(size);
  const bits = new Uint8Array(size);
  const next = new Uint16Array(size);
  const seen = new Uint16Array(counts.length);

  let high = size;
  counts.forEach((count, index) => {
    seen[index] = Math.abs(count);
    if (count === -1) symbol[--high] = index;
  });
  const step = (size >>> 1) + (size >>> 3) + 3;
  let at = 0;
  counts.forEach((count, index) => {
    for (let n = 0; n < count; n++) {
      symbol[at] = index;
      do at = (at + step) & (size - 1);
      while (at >= high);
    }
  });
  if (at !== 0) throw corrupt("the symbols of an FSE table do not fill it");

  for (let state = 0; state < size; state++) {
    const index = symbol[state] as number;
    const nth = seen[index] as number;
    seen[index] = nth + 1;
    const width = accuracyLog - (31 - Math.clz32(nth));
    bits[state] = width;
    next[state] = (nth << width) - size;
  }
  return { accuracyLog, symbol, bits, next };
}

/** Returns a table that always yields one symbol and reads no bits. */
export function constantFseTable(symbol: number): FseTable {
  return {
    accuracyLog: 0,
    symbol: Uint8Array.of(symbol),
    bits: new Uint8Array(1),
    next: new Uint16Array(1),
  };
}
