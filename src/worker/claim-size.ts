/** The load of a worker when it is about to claim. */
interface Load {
  readonly slots: number;
  readonly running: number;
  /** Claimed but not started. */
  readonly waiting: number;
  /** The durations of the last executions, newest last. */
  readonly recentMs: readonly number[];
}

/** For an execution shorter than this, the call that claims it costs more than the execution. */
const shortMs = 100;

/** How much work a worker may claim in advance, in time: the duration of a call on a slow network. */
const aheadMs = 200;

const mostAheadPerSlot = 16;

/**
 * Returns how many executions to claim.
 *
 * One for each free slot. When the last executions were all short, also as many as the slots finish during the next
 * call, so that they do not idle. After one long execution nothing is claimed ahead, because it would wait here while
 * another worker is free. The reserve is refilled when half of it is used, not one by one.
 */
export function claimSize({ slots, running, waiting, recentMs }: Load): number {
  const free = Math.max(0, slots - running);
  const ahead = aheadPerSlot(recentMs) * slots;
  if (free <= waiting && waiting > ahead / 2) return 0;
  return Math.max(0, free + ahead - waiting);
}

function aheadPerSlot(recentMs: readonly number[]): number {
  if (recentMs.length < 3) return 0;
  const longest = Math.max(...recentMs);
  if (longest >= shortMs) return 0;
  const mean = recentMs.reduce((sum, ms) => sum + ms, 0) / recentMs.length;
  return Math.min(mostAheadPerSlot, Math.ceil(aheadMs / Math.max(1, mean)));
}
