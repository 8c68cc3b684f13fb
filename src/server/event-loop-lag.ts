import { monitorEventLoopDelay } from "node:perf_hooks";

export interface EventLoopLag {
  readonly meanSeconds: number;
  readonly p99Seconds: number;
  readonly maxSeconds: number;
}

const spanMs = 10_000;
/** The monitor's timer fires a hundred times a second, at 0.7 % of a core: it runs only while somebody reads it. */
const unreadForMs = 5 * 60_000;
/** Of its timer; Node counts it into what it measures. */
const resolutionMs = 10;

/**
 * Measures how late this process comes to what it has to do.
 *
 * Answers for the last whole span of 10 s or longer: several scrapers do not take each other's maximum away.
 * Measuring begins with the first call, which answers zeros, and pauses when nobody has called for five minutes.
 * The timers keep no process alive, and need no stop.
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
