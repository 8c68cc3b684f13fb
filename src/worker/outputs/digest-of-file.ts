import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { digestOfMany, startDigest } from "#cas/digest-of.ts";
import type { Digest, DigestFunction } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";

/** Files up to this size are read as a whole. */
const wholeUpToBytes = 4 * 1024 * 1024;

/**
 * Hashes a path that was a file when it was found. If it has become a symlink, it is not followed. Rejects with the
 * signal's reason when it is aborted before the end.
 */
export async function digestOfFile(
  path: string,
  sizeBytes: number,
  by: DigestFunction,
  signal?: AbortSignal,
): Promise<Digest> {
  // Non-blocking: if the file has become a pipe, opening must not wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile())
      throw new Fault("aborted", `${path} changed while it was read`);
    if (sizeBytes <= wholeUpToBytes) return await digestOfMany(await file.readFile(), by);
    const running = startDigest(by);
    for await (const chunk of file.createReadStream({
      autoClose: false,
      highWaterMark: 1024 * 1024,
    })) {
      signal?.throwIfAborted();
      running.update(chunk as Uint8Array);
    }
    return running.digest();
  } finally {
    await file.close();
  }
}
