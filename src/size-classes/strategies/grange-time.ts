import type { Choice } from "../choice.ts";
import type { ClassEstimate, OwnDigest } from "../estimate/estimate.ts";
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
export function timeoutOn(on: ClassEstimate, greatest: ClassEstimate, requestedMs: number): number {
  if (on === greatest || greatest.slowness > worthMoving * on.slowness) return requestedMs;
  const late = quantile(on.duration, deviates.p999);
  return Math.min(
    requestedMs,
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
 * Runs that hang, or crawl on a machine that is not well: of an order with workers that are lost. No study that we know
 * counts them, so what the action's own late runs came to soon says more; see `lateRuns`. With 0.005, second runs cost 1 %
 * of what ten kinds of traces cost in which nothing is ever stuck.
 */
const shareStuck = 0.002;
/** How many late runs of the action itself this guess weighs against. */
const guessWeighs = 0.5;
/** What has taken so long is expected to take as long again: tails are as heavy as the seed's, not as a log-normal's. */
const longAgain = 2;
/** A run that was ended for a second one was stuck when it took more than so many times what it should have. */
const stuckAt = 1.25;

/**
 * A second run on a greater class, once the first is late.
 *
 * Either it has more to do than others, then so has the second; or it is stuck, then it is expected to take as long
 * again as it took. Which of them is more likely is learned from the late runs that there were. The second is begun
 * only when the time and money that it saves are worth more than it costs.
 */
export function hedgeOf(
  on: ClassEstimate,
  greater: readonly ClassEstimate[],
  own: OwnDigest,
  timeoutMs: number,
  waiting: number,
): Choice["hedge"] {
  for (const { deviate, share } of lateness) {
    const afterMs = quantile(on.duration, deviate);
    if (afterMs > latestHedge * timeoutMs) return undefined;
    const late = lateRuns(own, on, afterMs);
    const stuck =
      (late.stuck + (guessWeighs * shareStuck) / (shareStuck + share)) /
      (late.stuck + late.longMs.length + guessWeighs);
    const usualMs = Math.max(longAgain * afterMs, meanAbove(on.duration, afterMs));
    const wholeMs =
      (late.longMs.reduce((sum, ms) => sum + ms, 0) + usualMs) / (late.longMs.length + 1);
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

/** The runs of an action that were later than this: those that had more to do, and those that were stuck. */
function lateRuns(
  { teaches }: OwnDigest,
  { offered, slowness }: ClassEstimate,
  afterMs: number,
): { readonly longMs: readonly number[]; readonly stuck: number } {
  const lateLog = Math.log(afterMs / slowness);
  const longMs: number[] = [];
  for (const logWork of teaches.latestLogWorks) {
    if (logWork <= lateLog) continue;
    longMs.push(Math.exp(logWork) * slowness);
  }
  // Ended for a second run that did as much as others do: the first should have been over long before.
  const stuck = teaches.endedEarly.filter(
    ({ sizeClass, ranMs, workMs }) =>
      sizeClass === offered.sizeClass && stuckAt * workMs * slowness < ranMs,
  );
  return { longMs, stuck: stuck.length };
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
