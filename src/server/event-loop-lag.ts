import { monitorEventLoopDelay } from "node:perf_hooks";

export interface EventLoopLag {
  readonly meanSeconds: number;
  readonly p99Seconds: number;
  readonly maxSeconds: number;
}

const spanMs = 10_000;
/** Of its timer; Node counts it into what it measures. */
const resolutionMs = 10;

/**
 * Measures how late this process comes to what it has to do.
 *
 * Answers for the last whole span of 10 s or longer: several scrapers do not take each other's maximum away.
 * The monitor's timer keeps no process alive, and needs no stop.
 */
export function eventLoopLag(now: () => number): () => EventLoopLag {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let since = now();
  const read = (): EventLoopLag => ({
    meanSeconds: seconds(delay.mean),
    p99Seconds: seconds(delay.percentile(99)),
    maxSeconds: seconds(delay.max),
  });
  let last: EventLoopLag | undefined;
  return () => {
    if (last !== undefined && now() - since < spanMs) return last;
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
