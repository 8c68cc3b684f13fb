import { type Digest, digestKey } from "#core/digest.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { BlobStore } from "./blob-store.ts";

/** What actions and commands take. Larger ones are read again. */
const eachAtMost = 64 * 1024;
const allAtMost = 16 * 1024 * 1024;

interface RecentBlobs {
  /** The store below, whose writers are watched. */
  readonly store: BlobStore;
  /** The same, reading what came or was read a moment ago from memory. */
  readonly recent: BlobStore;
}

export const bytesKept = () =>
  recentlyUsed<Uint8Array>(allAtMost, (bytes) => bytes.byteLength + 200);

/**
 * Remembers small blobs that came a moment ago.
 *
 * An action is read twice within milliseconds of its upload: when it is asked for, and when a worker gets
 * it. Either time it is eight round trips to the thread pool, for it and its command. For readers who want
 * the bytes: whether a blob is still in the store, this does not say.
 *
 * @param kept What is remembered; shared by stores, whose `name` tells their blobs apart.
 */
export function recentBlobs(base: BlobStore, kept = bytesKept(), name = ""): RecentBlobs {
  const keyOf = (digest: Digest) => name + digestKey(digest);
  const keep = (digest: Digest, bytes: Uint8Array) => {
    // A copy: these may be a piece of a message of megabytes.
    if (bytes.byteLength <= eachAtMost) kept.set(keyOf(digest), Uint8Array.from(bytes));
  };
  const store: BlobStore = {
    ...base,
    async put(digest, bytes) {
      await base.put(digest, bytes);
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
