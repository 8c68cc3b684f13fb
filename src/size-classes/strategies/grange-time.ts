import type { Choice } from "../choice.ts";
import type { ClassEstimate, OwnDigest } from "../estimate/estimate.ts";
import { deviates, meanAbove, quantile } from "../estimate/log-normal.ts";

/** Less than this is no reason to end a run, however short it was expected to be. */
const leastTimeoutMs = 60_000;
/** A run is not stopped before so many times its expected duration. */
const timeoutOverExpected = 4;
/** It must take less than this share of its time on the greatest class; otherwise moving gains nothing. */
const worthMoving = 0.67;

/**
 * Returns the timeout of a run on a class that is not the last, in ms.
 *
 * Stopping it wastes the work, so it is for runs that are far from the expectation: beyond one in a thousand, and only
 * where the greatest class is so much faster that it may finish earlier.
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
 * The share of runs that hang, or crawl on a faulty machine: of the order of lost workers. No known study counts them,
 * so the action's own late runs soon count more; see `lateRuns`. With 0.005, second runs cost 1 % of ten kinds of
 * traces in which nothing hangs.
 */
const shareStuck = 0.002;
/** How many late runs of the action itself this guess weighs against. */
const guessWeighs = 0.5;
/**
 * A run that took so long is expected to take as long again: tails are as heavy as the seed's, not as a log-normal's.
 */
const longAgain = 2;
/**
 * A run that was ended in favour of a second one counts as stuck when it took more than this multiple of the expected
 * time.
 */
const stuckAt = 1.25;

/**
 * Returns the second run on a greater class for a run that becomes late.
 *
 * Either the run has more to do, then the second run has it, too; or it hangs, then it is expected to take as long
 * again. The likelihood of both is learned from earlier late runs. The second run starts only when the saved time and
 * money are worth more than its cost.
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
