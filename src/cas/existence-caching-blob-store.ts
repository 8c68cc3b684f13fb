import type { Clock } from "#core/clock.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { BlobStore } from "./blob-store.ts";

export interface ExistenceCacheOptions {
  /**
   * How long a blob that was seen is taken to be here. Far shorter than eviction
   * lets an unused blob live: what is answered from memory is not touched below.
   */
  readonly ttlMs: number;
  /** How many digests are remembered at most; about 200 bytes of memory each. */
  readonly limit: number;
}

/**
 * Remembers for a while which blobs exist.
 *
 * Build clients ask for the same digests again and again. Only presence is
 * remembered: a blob that was missing may have been uploaded since. A read that
 * finds none, or a corrupt one, makes its digest unsure again.
 *
 * @param seen Until when which blobs are taken to be here; shared by stores, whose `name` tells their blobs apart.
 */
export function cachingExistence(
  base: BlobStore,
  clock: Clock,
  { ttlMs, limit }: ExistenceCacheOptions,
  seen = new Map<string, number>(),
  name = "",
): BlobStore {
  const keyOf = (digest: Digest) => name + digestKey(digest);

  function remember(digest: Digest, now: number): void {
    const key = keyOf(digest);
    // Taken out first, so that the order of the map is the order of expiry.
    seen.delete(key);
    seen.set(key, now + ttlMs);
    const [oldest] = seen.keys();
    if (seen.size > limit && oldest !== undefined) seen.delete(oldest);
  }

  async function forgetOnLoss<T>(digest: Digest, read: () => Promise<T>): Promise<T> {
    let found: T | undefined;
    try {
      found = await read();
      return found;
    } finally {
      if (found === undefined) seen.delete(keyOf(digest));
    }
  }

  async function* forgettingOnFailure(digest: Digest, chunks: AsyncIterable<Uint8Array>) {
    try {
      yield* chunks;
    } catch (reason) {
      seen.delete(keyOf(digest));
      throw reason;
    }
  }

  return {
    get: (digest) => forgetOnLoss(digest, () => base.get(digest)),

    async read(digest, range) {
      const chunks = await forgetOnLoss(digest, () => base.read(digest, range));
      return chunks && forgettingOnFailure(digest, chunks);
    },

    async put(digest, bytes) {
      await base.put(digest, bytes);
      remember(digest, clock.now().getTime());
    },

    async write(digest, chunks) {
      await base.write(digest, chunks);
      remember(digest, clock.now().getTime());
    },

    async findMissing(digests) {
      const now = clock.now().getTime();
      const unsure = digests.filter((d) => (seen.get(keyOf(d)) ?? 0) <= now);
      if (unsure.length === 0) return [];
      const missing = await base.findMissing(unsure);
      const absent = new Set(missing.map(digestKey));
      for (const digest of unsure) {
        if (!absent.has(digestKey(digest))) remember(digest, now);
      }
      return missing;
    },
  };
}
