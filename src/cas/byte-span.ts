import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { ByteRange } from "./blob-store.ts";

/** Bytes `start` to `end` of a blob, the last one excluded. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the position of a range in a blob, truncated at the blob's end.
 *
 * A range that starts right behind the last byte is legal and empty; a start beyond that is `out_of_range`, as in
 * ByteStream.
 */
export function spanIn(digest: Digest, range: ByteRange | undefined): ByteSpan {
  const { offset = 0, limit } = range ?? {};
  const sane = (n: number) => Number.isSafeInteger(n) && n >= 0;
  if (!sane(offset) || offset > digest.sizeBytes || (limit !== undefined && !sane(limit))) {
    throw new Fault("out_of_range", `${digestKey(digest)} has no bytes at ${offset}`);
  }
  const end = limit === undefined ? digest.sizeBytes : Math.min(digest.sizeBytes, offset + limit);
  return { start: offset, end };
}

/** Returns whether a range is the whole blob, and can therefore be checked against its digest. */
export function isWhole(digest: Digest, range: ByteRange | undefined): boolean {
  const { start, end } = spanIn(digest, range);
  return start === 0 && end === digest.sizeBytes;
}
