/** When the store was last counted, and how full the disk was then. */
export interface LastLook {
  readonly atMs: number;
  readonly bytes: number;
  readonly diskFreeBytes: number;
}

const hourMs = 60 * 60_000;
/** A round that could not get below the limit waits until young blobs are older. */
const againAfterMs = 10 * 60_000;
/** With a disk that is nearly full, the next round must be sooner. */
const soonAgainAfterMs = 2 * 60_000;

/**
 * Returns whether to count the store. Counting reads the size of every blob, which takes a minute for a million blobs.
 *
 * Between counts, the free space of the disk limits how much the store may have grown. A disk that is nearly full is
 * checked sooner.
 */
export function isTimeToLook(
  last: LastLook | undefined,
  limitBytes: number | undefined,
  diskFreeBytes: number,
  nowMs: number,
  isDiskShort = false,
): boolean {
  if (last === undefined) return true;
  // If the clock was set back, the difference must not delay the next count for years.
  const agoMs = Math.abs(nowMs - last.atMs);
  if (agoMs >= hourMs) return true;
  if (isDiskShort && agoMs >= soonAgainAfterMs) return true;
  if (limitBytes === undefined || agoMs < againAfterMs) return false;
  return last.bytes + Math.max(0, last.diskFreeBytes - diskFreeBytes) > limitBytes;
}
