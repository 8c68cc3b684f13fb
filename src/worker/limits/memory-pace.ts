/**
 * Returns when to measure again a tree whose memory only the worker limits, in ms.
 *
 * Often enough that no real process gets from its present use to the limit unnoticed, and so rarely that measuring
 * costs at most a twentieth of a CPU, or a tenth near the limit.
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

/** One core fills fresh pages at 1 to 3 GB/s; several cores together at this rate. */
const fastestBytesPerSecond = 8e9;
const fastestMs = 5;
const usualMs = 100;
/** For trees of a thousand processes. */
const slowestMs = 1_000;
