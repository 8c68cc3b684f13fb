import type { Digest } from "#core/digest.ts";
import type { GranaryResult } from "../granary-result.ts";
import { shortKeyOf } from "../store/key-set.ts";

/** Blobs of waiting results, with the number of references. */
export interface HeldBlobs {
  add(result: GranaryResult): void;
  release(result: GranaryResult): void;
  has(digest: Digest): boolean;
}

/**
 * Protects blobs up to this number of bytes: a farm that stays unreachable must not fill the store with waiting data.
 *
 * Blobs above the limit are not held, also later: they may be trimmed before they are sent.
 */
export function heldBlobs(mostBytes: number): HeldBlobs {
  const named = new Map<number, { count: number; readonly isHeld: boolean }>();
  let bytes = 0;

  return {
    add({ value, blobs }) {
      for (const digest of [value, ...blobs]) {
        const key = shortKeyOf(digest);
        const one = named.get(key);
        if (one !== undefined) {
          one.count++;
          continue;
        }
        const isHeld = bytes + digest.sizeBytes <= mostBytes;
        if (isHeld) bytes += digest.sizeBytes;
        named.set(key, { count: 1, isHeld });
      }
    },
    release({ value, blobs }) {
      for (const digest of [value, ...blobs]) {
        const key = shortKeyOf(digest);
        const one = named.get(key);
        if (one === undefined || --one.count > 0) continue;
        named.delete(key);
        if (one.isHeld) bytes -= digest.sizeBytes;
      }
    },
    has: (digest) => named.get(shortKeyOf(digest))?.isHeld ?? false,
  };
}
