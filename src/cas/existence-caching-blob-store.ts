import type { Clock } from "#core/clock.ts";
import type { Digest } from "#core/digest.ts";
import type { BlobStore } from "./blob-store.ts";

export interface ExistenceCacheOptions {
  /**
   * How long a blob counts as present after a check. This must be far shorter than the time after which an unused blob
   * is evicted, because answers from the cache do not count as use.
   */
  readonly ttlMs: number;
  /** The limit for cached digests; about 200 bytes of memory each. */
  readonly limit: number;
}

/**
 * The blobs that count as present, by the name of their store and their hash. A hash belongs to blobs of one size only,
 * so a lookup needs no longer key, which would have to be made for each digest of each request.
 */
export type SeenBlobs = Map<string, { readonly sizeBytes: number; readonly until: number }>;

interface ExistenceCachingStore extends BlobStore {
  /** Like `findMissing`, but checks every digest in the store below, and removes missing ones from the cache. */
  findMissingBelow(digests: readonly Digest[]): Promise<Digest[]>;
}

/**
 * Caches for a while which blobs exist.
 *
 * Build clients check the same digests again and again. Only presence is cached: a missing blob may have been uploaded
 * since. A read that finds no blob, or a corrupt one, removes its digest from the cache. A blob that another process
 * removes is reported as present for at most `ttlMs`: a check does not renew an entry.
 *
 * @param seen Shared by stores, whose `name` keeps their blobs apart.
 */
export function cachingExistence(
  base: BlobStore,
  clock: Clock,
  { ttlMs, limit }: ExistenceCacheOptions,
  seen: SeenBlobs = new Map(),
  name = "",
): ExistenceCachingStore {
  /** Incremented at every loss: an answer that began before a loss is not cached. */
  let losses = 0;
  const keyOf = ({ hash }: Digest) => name + hash;

  function remember(digest: Digest, now: number): void {
    const key = keyOf(digest);
    // Removed first, so that the order of the map is the order of expiry.
    seen.delete(key);
    seen.set(key, { sizeBytes: digest.sizeBytes, until: now + ttlMs });
    if (seen.size <= limit) return;
    const [oldest] = seen.keys();
    if (oldest !== undefined) seen.delete(oldest);
  }

  function isSeen(digest: Digest, now: number): boolean {
    const blob = seen.get(keyOf(digest));
    return blob !== undefined && blob.until > now && blob.sizeBytes === digest.sizeBytes;
  }

  function forget(digest: Digest): void {
    losses++;
    seen.delete(keyOf(digest));
  }

  /** Checks the store below, and caches the present blobs. */
  async function ask(digests: readonly Digest[]): Promise<Digest[]> {
    const now = clock.now().getTime();
    const before = losses;
    const missing = await base.findMissing(digests);
    // By the hash alone: a blob is not remembered if one of another size with its hash is missing.
    const absent = new Set(missing.map(({ hash }) => hash));
    // A blob may have been found corrupt, and removed, after it was seen.
    const isCertain = losses === before;
    for (const digest of missing) forget(digest);
    if (!isCertain) return missing;
    for (const digest of digests) if (!absent.has(digest.hash)) remember(digest, now);
    return missing;
  }

  async function forgetOnLoss<T>(digest: Digest, read: () => Promise<T>): Promise<T> {
    let found: T | undefined;
    try {
      found = await read();
      return found;
    } finally {
      if (found === undefined) forget(digest);
    }
  }

  async function* forgettingOnFailure(digest: Digest, chunks: AsyncIterable<Uint8Array>) {
    try {
      yield* chunks;
    } catch (reason) {
      forget(digest);
      throw reason;
    }
  }

  return {
    get: (digest) => forgetOnLoss(digest, () => base.get(digest)),

    async read(digest, range) {
      const chunks = await forgetOnLoss(digest, () => base.read(digest, range));
      return chunks && forgettingOnFailure(digest, chunks);
    },

    async put(digest, bytes, onWritten) {
      await base.put(digest, bytes, onWritten);
      remember(digest, clock.now().getTime());
    },

    async write(digest, chunks) {
      await base.write(digest, chunks);
      remember(digest, clock.now().getTime());
    },

    async findMissing(digests) {
      const now = clock.now().getTime();
      const unsure = digests.filter((digest) => !isSeen(digest, now));
      return unsure.length === 0 ? [] : ask(unsure);
    },

    findMissingBelow: ask,
  };
}
