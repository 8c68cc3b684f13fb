import { most } from "./build-bounds.ts";

const note = Buffer.from("\n[the farm keeps no more of what was printed]\n");

/**
 * What of newly printed bytes is kept behind those that are stored.
 *
 * The last that fits is followed by a note; the note itself is never followed by anything.
 */
export function fitPrinted(
  stored: number,
  bytes: Uint8Array,
  limit: number = most.logBytes,
): Uint8Array {
  if (stored >= limit || stored + bytes.length < limit) {
    return stored >= limit ? new Uint8Array() : bytes;
  }
  return Buffer.concat([bytes.subarray(0, limit - stored), note]);
}
