import type { BlobStore } from "#cas/blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Value, ValueLookup } from "./caches.ts";

/** A value of at most so many bytes is read in one piece; it is verified before it is sent, or it is a miss. */
export const inOnePiece = 256 * 1024;

const noBytes = new Uint8Array();

/** Returns the requested part of a blob; undefined when the blob is missing or corrupt. */
export async function blobValue(
  blobs: BlobStore,
  digest: Digest,
  lookup: ValueLookup,
): Promise<Value | undefined> {
  try {
    if (lookup.headOnly) {
      const missing = await blobs.findMissing([digest]);
      return missing.length === 0 ? { kind: "bytes", digest, bytes: noBytes } : undefined;
    }
    if (digest.sizeBytes <= inOnePiece && lookup.range === undefined) {
      const bytes = await blobs.get(digest);
      return bytes && { kind: "bytes", digest, bytes };
    }
    if (lookup.certain && digest.sizeBytes > 0) {
      // Reading a part verifies the whole blob.
      const first = await blobs.read(digest, { offset: 0, limit: 1 });
      if (first === undefined) return undefined;
      for await (const _ of first);
    }
    const chunks = await blobs.read(digest, lookup.range);
    return chunks && { kind: "stream", digest, chunks };
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "data_loss") return undefined;
    throw reason;
  }
}
