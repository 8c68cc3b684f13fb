import { monitorEventLoopDelay } from "node:perf_hooks";

export interface EventLoopLag {
  readonly meanSeconds: number;
  readonly p99Seconds: number;
  readonly maxSeconds: number;
}

const spanMs = 10_000;
/** The monitor's timer fires a hundred times a second, at 0.7 % of a core, so it only runs while its value is read. */
const unreadForMs = 5 * 60_000;
/** The resolution of Node's timer in ms; Node includes it in the measured delay. */
const resolutionMs = 10;

/**
 * Measures how late this process runs its timers.
 *
 * Returns the figures of the last complete span of 10 s or longer, so that several scrapers get the same maximum.
 * Measuring begins with the first call, which returns zeros, and pauses after five minutes without a call. The timers
 * do not keep the process alive and need no stop.
 */
export function eventLoopLag(now: () => number): () => EventLoopLag {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  const read = (): EventLoopLag => ({
    meanSeconds: seconds(delay.mean),
    p99Seconds: seconds(delay.percentile(99)),
    maxSeconds: seconds(delay.max),
  });
  let since = 0;
  let last: EventLoopLag | undefined;
  const pause = setTimeout(() => {
    delay.disable();
    delay.reset();
    last = undefined;
  }, unreadForMs);
  pause.unref();
  return () => {
    pause.refresh();
    if (last !== undefined && now() - since < spanMs) return last;
    if (last === undefined) delay.enable();
    last = read();
    delay.reset();
    since = now();
    return last;
  };
}

function seconds(nanoseconds: number): number {
  if (!Number.isFinite(nanoseconds)) return 0;
  return Math.max(0, nanoseconds / 1e9 - resolutionMs / 1e3);
}
