/** The load of a worker when it is about to claim. */
interface Load {
  readonly slots: number;
  readonly running: number;
  /** Claimed, and not begun. */
  readonly waiting: number;
  /** How long the last executions took, newest last. */
  readonly recentMs: readonly number[];
}

/** An execution shorter than this costs less than the call that asks for it is worth. */
const shortMs = 100;

/** How much work a worker may hold in advance, in time: the duration of a call on a slow network. */
const aheadMs = 200;

const mostAheadPerSlot = 16;

/**
 * Returns how many executions to claim.
 *
 * One for each free slot. When the last executions were all short, also as many as the slots finish during the next
 * call, so that they do not idle. After one long execution nothing is claimed ahead: it would wait here while another
 * worker is free. The reserve is filled up when half of it is used, not one by one.
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
