import type { FileHandle } from "node:fs/promises";
import type { Digest, DigestFunction } from "#core/digest.ts";
import { startDigest } from "../digest-of.ts";

/**
 * Returns the digest of an open file. While one chunk is hashed, the next one is read.
 *
 * The two chunks are used again and again. New memory for each chunk, as readers of the bytes need, takes as much CPU
 * time as the hashing itself: 260 ms for 200 MB with SHA-256 in place of 130 to 150 ms.
 */
export async function hashFile(
  file: FileHandle,
  by: DigestFunction,
  chunkBytes: number,
): Promise<Digest> {
  const running = startDigest(by);
  let at = 0;
  const readInto = (chunk: Buffer) => {
    const read = file.read(chunk, 0, chunkBytes, at);
    // It may fail before it is awaited.
    read.catch(() => {});
    return read;
  };
  let free: Buffer = Buffer.allocUnsafeSlow(chunkBytes);
  let coming = readInto(Buffer.allocUnsafeSlow(chunkBytes));
  for (;;) {
    const { bytesRead, buffer } = await coming;
    if (bytesRead === 0) return running.digest();
    at += bytesRead;
    coming = readInto(free);
    running.update(buffer.subarray(0, bytesRead));
    free = buffer;
  }
}
