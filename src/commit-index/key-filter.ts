import { createHash } from "node:crypto";
import { Fault } from "#core/fault.ts";
import type { ResultKey } from "./result-key.ts";

/** A Bloom filter, as `KeyFilter` of the protocol: it contains all keys that were added to it. */
export interface KeyFilter {
  readonly bits: Uint8Array;
  readonly hashes: number;
}

/** Builds a filter, one key at a time. */
interface KeyFilterBuilder {
  /** Returns false when there are too many keys for a filter. */
  add(key: ResultKey): boolean;
  /** Returns undefined when there were too many keys. */
  finish(): KeyFilter | undefined;
}

/** One in a hundred absent keys is a false positive: -ln(0.01) / ln(2)² bits a key, and ln(2) times as many hashes. */
const bitsPerKey = 9.585;
const hashes = 7;
/** Enough for 875,000 keys. The filter is sent at the start of every build: 0.1 s at 100 Mbit/s. */
const mostBytes = 1024 * 1024;
const mostKeys = Math.floor((mostBytes * 8) / bitsPerKey);

/**
 * The limits for a received filter: above these it costs more than it saves, and above 2^26 bits sums are no longer
 * exact.
 */
const mostBytesTaken = 4 * 1024 * 1024;
const mostHashesTaken = 32;

export function keyFilterBuilder(): KeyFilterBuilder {
  // Four words per key; the number of bits is known only after the last key.
  let words = new Uint32Array(4 * 1_024);
  let count = 0;
  let isTooMany = false;
  return {
    add(key) {
      if (count === mostKeys) isTooMany = true;
      if (isTooMany) return false;
      if (4 * count === words.length) {
        const more = new Uint32Array(2 * words.length);
        more.set(words);
        words = more;
      }
      words.set(wordsOf(key), 4 * count);
      count++;
      return true;
    },
    finish() {
      if (isTooMany) return undefined;
      const bits = new Uint8Array(Math.max(8, Math.ceil((count * bitsPerKey) / 8)));
      for (let at = 0; at < 4 * count; at += 4) {
        putInto(bits, words.subarray(at, at + 4), hashes);
      }
      return { bits, hashes };
    },
  };
}

/**
 * Adds keys beyond the planned number to a filter; returns the share of set bits: the higher, the more false positives.
 */
export function addToFilter({ bits, hashes: count }: KeyFilter, keys: Iterable<ResultKey>): number {
  let set = 0;
  for (const key of keys) set += putInto(bits, wordsOf(key), count);
  return set / (bits.length * 8);
}

/**
 * Reads a filter; throws `invalid_argument` for an invalid one. The returned function is false only for keys that were
 * not added.
 */
export function readKeyFilter({ bits, hashes: count }: KeyFilter): (key: ResultKey) => boolean {
  if (bits.length === 0 || bits.length > mostBytesTaken) {
    throw wrong(`it has ${bits.length} bytes, and must have 1 to ${mostBytesTaken}`);
  }
  if (!Number.isInteger(count) || count < 1 || count > mostHashesTaken) {
    throw wrong(`it has ${count} hashes, and must have 1 to ${mostHashesTaken}`);
  }
  return (key) =>
    eachBit(
      wordsOf(key),
      bits.length * 8,
      count,
      (bit) => ((bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0,
    );
}

/** Returns how many bits were newly set. */
function putInto(bits: Uint8Array, words: Uint32Array, count: number): number {
  let set = 0;
  eachBit(words, bits.length * 8, count, (bit) => {
    const byte = bits[bit >>> 3] ?? 0;
    const mask = 1 << (bit & 7);
    if ((byte & mask) === 0) set++;
    bits[bit >>> 3] = byte | mask;
    return true;
  });
  return set;
}

/** The first 16 bytes of the key's hash, as words, the highest first. */
function wordsOf({ namespace, key }: ResultKey): Uint32Array {
  const hash = createHash("sha256").update(`${namespace}\0${key}`).digest();
  return Uint32Array.of(0, 4, 8, 12).map((at) => hash.readUInt32BE(at));
}

const twoTo32 = 2 ** 32;

/**
 * Hash i is (first 8 bytes + i × next 8 bytes) mod 2^64 mod the bits, computed in halves: doubles are exact up to 2^53,
 * and BigInt takes ten times as long. Stops when `visit` returns false, and returns whether it never did.
 */
function eachBit(
  words: Uint32Array,
  bits: number,
  count: number,
  visit: (bit: number) => boolean,
): boolean {
  let [high = 0, low = 0] = words;
  const [, , stepHigh = 0, stepLow = 0] = words;
  const wrap = twoTo32 % bits;
  for (let i = 0; i < count; i++) {
    if (!visit(((high % bits) * wrap + low) % bits)) return false;
    low += stepLow;
    const carry = low >= twoTo32 ? 1 : 0;
    low -= carry * twoTo32;
    high = (high + stepHigh + carry) % twoTo32;
  }
  return true;
}

function wrong(what: string): Fault {
  return new Fault("invalid_argument", `invalid filter of keys: ${what}`);
}
