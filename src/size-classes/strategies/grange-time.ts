import type { Choice } from "../choice.ts";
import type { ClassEstimate } from "../estimate/estimate.ts";
import { deviates, meanAbove, quantile } from "../estimate/log-normal.ts";

/** Less than this is no reason to end a run, however short it was expected to be. */
const leastTimeoutMs = 60_000;
/** Nor is a run that takes no more than so many times what was expected. */
const timeoutOverExpected = 4;
/** It must take less than this share of its time on the greatest class, or nothing is gained there. */
const worthMoving = 0.67;

/**
 * How long a run may take on a class that is not the last.
 *
 * Ending it throws away what was done, so it is for runs that are nothing like what was expected: beyond what one in
 * a thousand takes, and only where the greatest class is so much faster that it might be there sooner.
 */
export function timeoutOn(on: ClassEstimate, greatest: ClassEstimate, askedMs: number): number {
  if (on === greatest || greatest.slowness > worthMoving * on.slowness) return askedMs;
  const late = quantile(on.duration, deviates.p999);
  return Math.min(
    askedMs,
    Math.round(Math.max(late, timeoutOverExpected * on.expectedMs, leastTimeoutMs)),
  );
}

/** Hedges later than this share of the time allowed are pointless. */
const latestHedge = 0.8;
/** Looked at in this order: the first that is worth it. */
const lateness = [
  { deviate: deviates.p98, share: 0.02 },
  { deviate: deviates.p999, share: 0.001 },
] as const;
/**
 * Runs that hang, or crawl on a machine that is not well. Nobody counts them; of an order with workers that are lost.
 * So of those later than 98 in 100 one in five is stuck, of those later than 999 in 1000 most are.
 */
const shareStuck = 0.005;

/**
 * A second run on a greater class, once the first is late.
 *
 * Either it has more to do than others, then so has the second; or it is stuck, then it is expected to take as long
 * again as it took. The second is begun only when the time and money that it saves are worth more than it costs.
 */
export function hedgeOf(
  on: ClassEstimate,
  greater: readonly ClassEstimate[],
  timeoutMs: number,
  waiting: number,
): Choice["hedge"] {
  for (const { deviate, share } of lateness) {
    const afterMs = quantile(on.duration, deviate);
    if (afterMs > latestHedge * timeoutMs) return undefined;
    const stuck = shareStuck / (shareStuck + share);
    const wholeMs = meanAbove(on.duration, afterMs);
    let best: ClassEstimate | undefined;
    let most = 0;
    for (const other of greater) {
      if (other.memoryRisk > 0.5) continue;
      const longMs = (wholeMs * other.slowness) / on.slowness;
      const saved =
        (1 - stuck) * savedBy(on, other, wholeMs - afterMs, longMs, waiting) +
        stuck * savedBy(on, other, afterMs, other.expectedMs, waiting);
      if (saved <= most) continue;
      most = saved;
      best = other;
    }
    if (best !== undefined)
      return { afterMs: Math.max(1, Math.round(afterMs)), sizeClass: best.offered.sizeClass };
  }
  return undefined;
}

/** Whichever run is over first ends both. */
function savedBy(
  on: ClassEstimate,
  other: ClassEstimate,
  leftMs: number,
  secondMs: number,
  waiting: number,
): number {
  const { price, waitMs } = other.offered;
  const savedMs = Math.max(0, leftMs - waitMs - secondMs);
  const ranMs = Math.max(0, Math.min(secondMs, leftMs - waitMs));
  return (waiting + on.offered.price) * savedMs - price * ranMs;
}
