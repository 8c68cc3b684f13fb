import type { Choice } from "../choice.ts";
import type { ClassEstimate, OwnDigest } from "../estimate/estimate.ts";
import { deviates, meanAbove, quantile } from "../estimate/log-normal.ts";

/** A shorter time is no reason to end a run, however short it was expected to be. */
const leastTimeoutMs = 60_000;
/** A run is not stopped before this multiple of its expected duration. */
const timeoutOverExpected = 4;
/** It must take less than this share of its time on the largest class; otherwise moving gains nothing. */
const worthMoving = 0.67;

/**
 * Returns the timeout of a run on a class that is not the last, in ms.
 *
 * Stopping a run wastes its work, so it is only for runs that are far above the expectation: beyond one in a thousand,
 * and only when the largest class is so much faster that it may finish earlier.
 */
export function timeoutOn(on: ClassEstimate, greatest: ClassEstimate, requestedMs: number): number {
  if (on === greatest || greatest.slowness > worthMoving * on.slowness) return requestedMs;
  const late = quantile(on.duration, deviates.p999);
  return Math.min(
    requestedMs,
    Math.round(Math.max(late, timeoutOverExpected * on.expectedMs, leastTimeoutMs)),
  );
}

/** Hedges later than this share of the permitted time are useless. */
const latestHedge = 0.8;
/** Checked in this order: the first worthwhile one is used. */
const lateness = [
  { deviate: deviates.p98, share: 0.02 },
  { deviate: deviates.p999, share: 0.001 },
] as const;
/**
 * The share of runs that hang, or are extremely slow on a faulty machine: of the order of lost workers. No known study
 * counts them, so the action's own late runs soon have more weight; see `lateRuns`. With 0.005, second runs cost 1 % of
 * ten kinds of traces in which nothing hangs.
 */
const shareStuck = 0.002;
/** The weight of this guess, in late runs of the action itself. */
const guessWeighs = 0.5;
/**
 * A run that took this long is expected to take as long again: tails are as heavy as in the original design, not as a
 * log-normal's.
 */
const longAgain = 2;
/**
 * A run that was ended in favour of a second one counts as stuck when it took more than this multiple of the expected
 * time.
 */
const stuckAt = 1.25;

/**
 * Returns the second run on a larger class for a run that becomes late.
 *
 * If the run has more work, the second run has it, too; if it hangs, it is expected to take as long again. The
 * probability of both is learned from earlier late runs. The second run starts only when the saved time and money are
 * worth more than its cost.
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

/** Returns the runs of an action that were later than this: runs with more work, and runs that were stuck. */
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
  // Ended for a second run with a normal amount of work: the first should have ended long before.
  const stuck = teaches.endedEarly.filter(
    ({ sizeClass, ranMs, workMs }) =>
      sizeClass === offered.sizeClass && stuckAt * workMs * slowness < ranMs,
  );
  return { longMs, stuck: stuck.length };
}

/** The first run that ends also ends the other. */
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
