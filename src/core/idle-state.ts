/**
 * Whether the farm is idle: no work is open, and nothing was changed for a while.
 *
 * Loops that look into the database as the net below notifications look rarely while it is.
 */
export interface IdleState {
  isIdle(): boolean;
  /** Calls `busy` each time when the farm stops being idle. */
  onBusy(busy: () => void): { stop(): void };
}

/** For callers without an idle state: loops keep their usual periods. */
export const neverIdle: IdleState = { isIdle: () => false, onBusy: () => ({ stop() {} }) };

/** How often most loops look while the farm is idle. */
export const idlePeriodMs = 60_000;

/** Returns the period of a loop that usually looks every `usualMs`, and at least every `idleMs` while the farm is idle. */
export function periodMs(state: IdleState, usualMs: number, idleMs = idlePeriodMs): number {
  return state.isIdle() ? Math.max(usualMs, idleMs) : usualMs;
}
