import { type Digest, digestKey } from "#core/digest.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { BlobStore } from "./blob-store.ts";

/** Enough for actions and commands. Larger blobs are read again. */
const eachAtMost = 64 * 1024;
const allAtMost = 16 * 1024 * 1024;

interface RecentBlobs {
  /** The store itself, with writes recorded. */
  readonly store: BlobStore;
  /** The same store, which reads recently written or read blobs from memory. */
  readonly recent: BlobStore;
}

export const bytesKept = () =>
  recentlyUsed<Uint8Array>(allAtMost, (bytes) => bytes.byteLength + 200);

/**
 * Remembers recently written small blobs.
 *
 * An action is read twice within milliseconds of its upload: when it is requested, and when a worker gets it. Each read
 * takes eight round trips to the thread pool for the action and its command. Use it only to read bytes: it does not
 * show whether a blob is still in the store.
 *
 * @param kept The remembered blobs; shared by stores, whose `name` keeps their blobs apart.
 */
export function recentBlobs(base: BlobStore, kept = bytesKept(), name = ""): RecentBlobs {
  const keyOf = (digest: Digest) => name + digestKey(digest);
  const keep = (digest: Digest, bytes: Uint8Array) => {
    // A copy, because these bytes may be part of a message of megabytes.
    if (bytes.byteLength <= eachAtMost) kept.set(keyOf(digest), Uint8Array.from(bytes));
  };
  const store: BlobStore = {
    ...base,
    async put(digest, bytes, onWritten) {
      await base.put(digest, bytes, onWritten);
      keep(digest, bytes);
    },
  };
  return {
    store,
    recent: {
      ...store,
      async get(digest) {
        const known = kept.peek(keyOf(digest));
        if (known !== undefined) return known;
        const bytes = await base.get(digest);
        if (bytes !== undefined) keep(digest, bytes);
        return bytes;
      },
    },
  };
}
