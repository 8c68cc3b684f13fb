import type { Choice } from "../choice.ts";
import type { ClassEstimate } from "../estimate/estimate.ts";
import { above, deviates, meanAbove, quantile } from "../estimate/log-normal.ts";

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
/** Where more of the runs are this late, it is no surprise. */
const hedgeDeviate = deviates.p98;

/**
 * A second run on a greater class, once the first is later than 49 of 50.
 *
 * What is left of the first then is its mean residual time. The second is begun only when the time and money that it
 * saves are worth more than it costs.
 */
export function hedgeOf(
  on: ClassEstimate,
  greater: readonly ClassEstimate[],
  timeoutMs: number,
  waiting: number,
): Choice["hedge"] {
  const afterMs = quantile(on.duration, hedgeDeviate);
  if (afterMs > latestHedge * timeoutMs) return undefined;
  const wholeMs = meanAbove(on.duration, afterMs);
  const leftMs = wholeMs - afterMs;
  let best: { saved: number; sizeClass: number } | undefined;
  for (const other of greater) {
    // The work is what made it late, so the second run has as much of it.
    const secondMs = (wholeMs * other.slowness) / on.slowness + other.offered.waitMs;
    const savedMs = leftMs - secondMs;
    if (savedMs <= 0 || other.memoryRisk > 0.5) continue;
    const saved =
      (waiting + on.offered.price) * savedMs -
      other.offered.price * (secondMs - other.offered.waitMs);
    if (saved > 0 && (best === undefined || saved > best.saved))
      best = { saved, sizeClass: other.offered.sizeClass };
  }
  if (best === undefined) return undefined;
  return { afterMs: Math.max(1, Math.round(afterMs)), sizeClass: best.sizeClass };
}

export const chanceOfHedge = above(hedgeDeviate);
