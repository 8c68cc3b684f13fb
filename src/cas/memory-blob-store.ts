import { type Digest, digestKey, isEmptyDigest } from "#core/digest.ts";
import type { BlobStore } from "./blob-store.ts";
import { spanIn } from "./byte-span.ts";
import { assertBytesMatch, matchingBytes } from "./matching-bytes.ts";

/** Returns a blob store in memory. For tests, and for small data that need not outlive the process. */
export function memoryBlobStore(): BlobStore {
  const blobs = new Map<string, Uint8Array>();
  const bytesOf = (digest: Digest) =>
    isEmptyDigest(digest) ? new Uint8Array() : blobs.get(digestKey(digest));

  return {
    get: async (digest) => bytesOf(digest)?.slice(),

    async read(digest, range) {
      const { start, end } = spanIn(digest, range);
      const part = bytesOf(digest)?.slice(start, end);
      return part && inOneChunk(part);
    },

    async put(digest, bytes) {
      // A copy, because the caller may reuse its buffer.
      const copy = Uint8Array.from(bytes);
      await assertBytesMatch(digest, copy, "invalid_argument");
      blobs.set(digestKey(digest), copy);
    },

    async write(digest, chunks) {
      const parts: Uint8Array[] = [];
      for await (const chunk of matchingBytes(digest, chunks, "invalid_argument")) {
        parts.push(Uint8Array.from(chunk));
      }
      blobs.set(digestKey(digest), Uint8Array.from(Buffer.concat(parts)));
    },

    async findMissing(digests) {
      const absent = new Map<string, Digest>();
      for (const digest of digests) {
        if (bytesOf(digest) === undefined) absent.set(digestKey(digest), digest);
      }
      return [...absent.values()];
    },
  };
}

async function* inOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  if (bytes.byteLength > 0) yield bytes;
}
