import { type RecentlyUsed, recentlyUsed } from "#core/recently-used.ts";

/**
 * Small blobs that were sent to granaries recently, already verified: many machines begin with the same commit, one
 * after the other. Whether a project has a blob is still checked each time.
 */
export type RecentlySentBlobs = RecentlyUsed<Promise<Uint8Array | undefined>>;

const mostBytes = 64 * 1024 * 1024;
/** Approximate memory for a blob's name and its entry in the map. */
const besideBytes = 300;

export function openSentLately(most = mostBytes): RecentlySentBlobs {
  return recentlyUsed(most, (bytes) =>
    bytes === undefined ? Number.POSITIVE_INFINITY : bytes.byteLength + besideBytes,
  );
}
