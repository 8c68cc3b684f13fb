/**
 * When to look again at a tree whose memory only we limit.
 *
 * Often enough that nothing real gets from where it is to the limit unseen, and not so often that looking
 * costs more than a twentieth of a CPU; near the limit a tenth.
 */
export function nextLookMs(at: {
  readonly heldBytes: number;
  readonly limitBytes: number;
  /** CPU time that the last look took. */
  readonly lookCostMs: number;
  /** The tree multiplies: it may soon be too many. */
  readonly isCrowded?: boolean;
}): number {
  const headroom = Math.max(0, at.limitBytes - at.heldBytes);
  const untilLimitMs = (headroom / fastestBytesPerSecond) * 1_000;
  if (untilLimitMs < usualMs) {
    return Math.min(usualMs, Math.max(fastestMs, untilLimitMs, at.lookCostMs * 10));
  }
  if (at.isCrowded === true) return usualMs;
  return Math.min(slowestMs, untilLimitMs, Math.max(usualMs, at.lookCostMs * 20));
}

/** One core fills fresh pages at 1 to 3 GB/s; a few of them at once at this. */
const fastestBytesPerSecond = 8e9;
const fastestMs = 5;
const usualMs = 100;
/** For trees of a thousand processes. */
const slowestMs = 1_000;
