import { startDigest } from "#cas/digest-of.ts";
import type { DiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";

/** Received bytes: stored, or read to their end and dropped if the disk refused them. */
interface StoredBytes {
  readonly digest: Digest;
  readonly isKept: boolean;
}

/**
 * Stores data from a tool. A full disk is not reported to the tool: some tools would fail the user's build, and others
 * would send no further requests.
 *
 * Throws errors of receiving the bytes, and for wrong bytes.
 */
export async function storeOrDiscard(
  store: Pick<DiskBlobStore, "take">,
  chunks: AsyncIterable<Uint8Array>,
  onDropped: (reason: unknown) => void,
): Promise<StoredBytes> {
  const running = startDigest();
  const source = chunks[Symbol.asyncIterator]();
  let sendingFailed: { readonly reason: unknown } | undefined;
  const next = async () => {
    try {
      const result = await source.next();
      if (!result.done) running.update(result.value);
      return result;
    } catch (reason) {
      sendingFailed = { reason };
      throw reason;
    }
  };
  let isOver = false;
  // This iterable has no `return`, so that a reader that stops does not end the upload.
  const unending: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const result = await next();
        isOver = result.done === true;
        return result;
      },
    }),
  };
  try {
    return { digest: await store.take(unending), isKept: true };
  } catch (reason) {
    if (sendingFailed !== undefined) throw sendingFailed.reason;
    // The bytes do not match the name under which they were sent.
    if (reason instanceof Fault && reason.code === "invalid_argument") throw reason;
    onDropped(reason);
    while (!isOver) isOver = (await next()).done === true;
    return { digest: running.digest(), isKept: false };
  }
}
