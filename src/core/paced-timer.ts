import { type IdleState, neverIdle, periodMs } from "./idle-state.ts";

/**
 * Calls `run` every `everyMs`, and every `idleMs` while the farm is idle. Returns the function that stops it.
 *
 * When the farm stops being idle, the next call comes after `everyMs` at the latest. The timer does not keep the
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
    // In browsers, timers are numbers, and there is no process to keep alive.
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
