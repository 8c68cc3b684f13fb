/**
 * Returns the pause before the next measurement of a tree whose memory only the worker limits, in ms.
 *
 * The pause is so short that no real process grows from its present use to the limit unnoticed, and so long that
 * measuring costs at most a twentieth of a CPU, or a tenth near the limit.
 */
export function nextLookMs(at: {
  readonly heldBytes: number;
  readonly limitBytes: number;
  /** The CPU time of the last measurement. */
  readonly lookCostMs: number;
  /** The number of processes grows fast, and may soon exceed its limit. */
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

/** One core writes new pages at 1 to 3 GB/s; several cores together reach this rate. */
const fastestBytesPerSecond = 8e9;
const fastestMs = 5;
const usualMs = 100;
/** For trees of a thousand processes. */
const slowestMs = 1_000;
