import type { BlobStore } from "../blob-store.ts";

/** Called before each access to a store; throws when the caller may not do it. */
interface ReadGuard {
  /** Before bytes are read. */
  readonly toRead: () => Promise<void>;
  /** Before digests are compared with those of the store. */
  readonly toFind: () => Promise<void>;
}

/** Returns a store for a caller whose right to read is checked before anything is looked up. */
export function guardedReads(blobs: BlobStore, { toRead, toFind }: ReadGuard): BlobStore {
  return {
    async get(digest) {
      await toRead();
      return blobs.get(digest);
    },
    async read(digest, range) {
      await toRead();
      return blobs.read(digest, range);
    },
    async findMissing(digests) {
      await toFind();
      return blobs.findMissing(digests);
    },
    put: (digest, bytes, onWritten) => blobs.put(digest, bytes, onWritten),
    write: (digest, chunks) => blobs.write(digest, chunks),
  };
}
