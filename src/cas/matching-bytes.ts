import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { Fault, type FaultCode } from "#core/fault.ts";
import { digestOfMany, startDigest } from "./digest-of.ts";

/**
 * The meaning of a mismatch depends on the source of the bytes: `invalid_argument` for bytes from a caller, `data_loss`
 * for bytes from our own disk.
 */
type MismatchCode = Extract<FaultCode, "invalid_argument" | "data_loss">;

/** Throws unless the bytes match the digest. */
export async function assertBytesMatch(
  digest: Digest,
  bytes: Uint8Array,
  code: MismatchCode,
): Promise<void> {
  if (bytes.byteLength !== digest.sizeBytes) throw wrongSize(digest, bytes.byteLength, code);
  const actual = await digestOfMany(bytes, functionOf(digest));
  if (actual.hash !== digest.hash) throw wrongHash(digest, actual, code);
}

/**
 * Passes chunks on while hashing them, and throws when they do not match the digest.
 *
 * The last chunk is held back until the whole blob is verified. A receiver thus never gets all bytes of a wrong blob:
 * its stream fails before.
 */
export async function* matchingBytes(
  digest: Digest,
  chunks: AsyncIterable<Uint8Array>,
  code: MismatchCode,
): AsyncGenerator<Uint8Array, void, undefined> {
  const running = startDigest(functionOf(digest));
  let held: Uint8Array | undefined;
  for await (const chunk of chunks) {
    if (chunk.byteLength === 0) continue;
    running.update(chunk);
    if (running.sizeBytes > digest.sizeBytes) throw wrongSize(digest, running.sizeBytes, code);
    if (held !== undefined) yield held;
    held = chunk;
  }
  assertDigestsMatch(digest, running.digest(), code);
  if (held !== undefined) yield held;
}

/** Throws unless the digest of the bytes that were read is the expected one. */
export function assertDigestsMatch(expected: Digest, actual: Digest, code: MismatchCode): void {
  if (actual.sizeBytes !== expected.sizeBytes) throw wrongSize(expected, actual.sizeBytes, code);
  if (actual.hash !== expected.hash) throw wrongHash(expected, actual, code);
}

/** Returns the fault for a blob whose size differs, possibly only since recently, from its digest. */
export function wrongSize(digest: Digest, sizeBytes: number, code: MismatchCode): Fault {
  const kept = sizeBytes > digest.sizeBytes ? `at least ${sizeBytes}` : `${sizeBytes}`;
  return new Fault(code, `${digestKey(digest)} was expected, but ${kept} bytes came`);
}

function wrongHash(digest: Digest, actual: Digest, code: MismatchCode): Fault {
  return new Fault(code, `${digestKey(digest)} was expected, but the bytes are ${actual.hash}`);
}
