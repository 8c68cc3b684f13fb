import { type Digest, hexOf } from "#core/digest.ts";
import { varintLength, writeVarint } from "./varint.ts";

/** A field of the wire format: its number, and how its value is written (2: after its length; 0: a varint). */
const missingBlobDigestsField = (2 << 3) | 2;
const hashField = (1 << 3) | 2;
const sizeBytesField = 2 << 3;

/** Three fields, two lengths of up to two bytes, and a size of up to 53 bits. */
const mostBesidesHash = 1 + 2 + 1 + 2 + 1 + 8;

/**
 * Encodes a `FindMissingBlobsResponse`.
 *
 * A message object and its general encoding take 4 us for each digest, which was a quarter of a call with 10,000.
 */
export function encodeMissing(digests: readonly Digest[]): Uint8Array {
  const most = digests.reduce((sum, { hash }) => sum + hash.length + mostBesidesHash, 0);
  const bytes = Buffer.allocUnsafe(most);
  let at = 0;
  const varint = (value: number) => {
    at = writeVarint(bytes, at, value);
  };
  for (const digest of digests) {
    const hex = hexOf(digest);
    const { sizeBytes } = digest;
    // Protobuf leaves out a zero.
    const sizeLength = sizeBytes === 0 ? 0 : 1 + varintLength(sizeBytes);
    bytes[at++] = missingBlobDigestsField;
    varint(1 + varintLength(hex.length) + hex.length + sizeLength);
    bytes[at++] = hashField;
    varint(hex.length);
    at += bytes.write(hex, at, "latin1");
    if (sizeBytes === 0) continue;
    bytes[at++] = sizeBytesField;
    varint(sizeBytes);
  }
  return bytes.subarray(0, at);
}
