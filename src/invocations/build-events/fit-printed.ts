import { most } from "./build-bounds.ts";

const note = Buffer.from("\n[the farm stores no more of this output]\n");

/**
 * Returns the part of new output that is stored after the existing part.
 *
 * A note follows the last part that fits; no text follows the note.
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
