import { type IdleState, neverIdle, periodMs } from "./idle-state.ts";

/**
 * Calls `run` every `everyMs`, and rarely while the farm is idle: every `idleMs`. Returns the function that ends it.
 *
 * When the farm stops being idle, the next call comes after `everyMs` at the latest. The timer keeps no
 * process alive. `run` must not throw; its argument is the planned waiting time.
 */
export function startPacedTimer(
  everyMs: number,
  idle: IdleState | undefined,
  run: (plannedMs: number) => void,
  idleMs?: number,
): () => void {
  const state = idle ?? neverIdle;
  let timer: ReturnType<typeof setTimeout>;
  let plannedMs = 0;
  const plan = () => {
    plannedMs = periodMs(state, everyMs, idleMs);
    timer = setTimeout(() => {
      const waitedMs = plannedMs;
      plan();
      run(waitedMs);
    }, plannedMs);
    // Browsers, where there is nothing to keep alive, have numbers for timers.
    if (typeof timer === "object") timer.unref();
  };
  plan();
  const listening = state.onBusy(() => {
    if (plannedMs === everyMs) return;
    clearTimeout(timer);
    plan();
  });
  return () => {
    listening.stop();
    clearTimeout(timer);
  };
}
