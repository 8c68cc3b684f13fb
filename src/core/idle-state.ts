/**
 * Whether the farm is idle: no work is open, and nothing was changed for a while.
 *
 * Loops that poll the database, in case notifications are lost, poll rarely while the farm is idle.
 */
export interface IdleState {
  isIdle(): boolean;
  /** Calls `busy` each time when the farm stops being idle. */
  onBusy(busy: () => void): { stop(): void };
}

/** For callers without an idle state: loops keep their usual periods. */
export const neverIdle: IdleState = { isIdle: () => false, onBusy: () => ({ stop() {} }) };

/** The polling interval of most loops while the farm is idle. */
export const idlePeriodMs = 60_000;

/** Returns the interval of a loop: `usualMs`, or `idleMs` (if longer) while the farm is idle. */
export function periodMs(state: IdleState, usualMs: number, idleMs = idlePeriodMs): number {
  return state.isIdle() ? Math.max(usualMs, idleMs) : usualMs;
}
