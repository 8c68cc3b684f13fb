import { type Digest, digestKey } from "#core/digest.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { BlobStore } from "./blob-store.ts";

/** What actions and commands take. Larger ones are read again. */
const eachAtMost = 64 * 1024;
const allAtMost = 16 * 1024 * 1024;

export interface RecentBlobs {
  /** The store below, whose writers are watched. */
  readonly store: BlobStore;
  /** The same, reading what came or was read a moment ago from memory. */
  readonly recent: BlobStore;
}

/**
 * Remembers small blobs that came a moment ago.
 *
 * An action is read twice within milliseconds of its upload: when it is asked for, and when a worker gets
 * it. Either time it is eight round trips to the thread pool, for it and its command. For readers who want
 * the bytes: whether a blob is still in the store, this does not say.
 */
export function recentBlobs(base: BlobStore): RecentBlobs {
  const kept = recentlyUsed<Uint8Array>(allAtMost, (bytes) => bytes.byteLength + 200);
  const keep = (digest: Digest, bytes: Uint8Array) => {
    // A copy: these may be a piece of a message of megabytes.
    if (bytes.byteLength <= eachAtMost) kept.set(digestKey(digest), Uint8Array.from(bytes));
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
        const known = kept.peek(digestKey(digest));
        if (known !== undefined) return known;
        const bytes = await base.get(digest);
        if (bytes !== undefined) keep(digest, bytes);
        return bytes;
      },
    },
  };
}
