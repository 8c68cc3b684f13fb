import { type RecentlyUsed, recentlyUsed } from "#core/recently-used.ts";

/**
 * Small blobs that granaries were sent lately, as they were read and found sound: many machines begin with the same
 * commit, one after the other. Whether a project has one is asked each time, whatever is here.
 */
export type SentLately = RecentlyUsed<Promise<Uint8Array | undefined>>;

const mostBytes = 64 * 1024 * 1024;
/** About what its name and its place in the map take. */
const besideBytes = 300;

export function openSentLately(most = mostBytes): SentLately {
  return recentlyUsed(most, (bytes) =>
    bytes === undefined ? Number.POSITIVE_INFINITY : bytes.byteLength + besideBytes,
  );
}
