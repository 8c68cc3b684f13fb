import type { BlobStore } from "#cas/blob-store.ts";

/** The amount that was fetched through a store. */
export interface Fetched {
  blobs: number;
  bytes: number;
}

/** Counts the bytes fetched from a farm for one execution. */
export function countingFetches(farm: BlobStore): { farm: BlobStore; fetched: Fetched } {
  const fetched: Fetched = { blobs: 0, bytes: 0 };
  const count = <T>(found: T | undefined, bytes: number): T | undefined => {
    if (found === undefined) return undefined;
    fetched.blobs++;
    fetched.bytes += bytes;
    return found;
  };
  return {
    fetched,
    farm: {
      ...farm,
      get: async (digest) => count(await farm.get(digest), digest.sizeBytes),
      read: async (digest, range) => count(await farm.read(digest, range), digest.sizeBytes),
    },
  };
}
