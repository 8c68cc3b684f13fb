import type { Verdict } from "#api/benchmark-comparison.ts";
import { alphaAfter } from "./alpha-spending.ts";
import { type Pair, type PairEffect, pairEffect, pairEffectAsTaken } from "./pair-effect.ts";

export type { Pair };

export interface JudgeOptions {
  /** Smaller relative changes are irrelevant: see `practicalLimit`. */
  readonly limit: number;
  /** The numbers of pairs after which the result is judged. */
  readonly rounds: readonly number[];
  readonly better: "lower" | "higher";
  /**
   * A rerun continues to the last round even if it already shows a change: the evidence of ten pairs would not be
   * significant among a hundred cases.
   */
  readonly isRerun?: boolean;
}

export interface PairsJudgement {
  readonly verdict: Exclude<Verdict, "unlike-machines">;
  /** The exact two-sided p-value; null: there are no pairs. */
  readonly p: number | null;
  readonly effect: number;
  readonly low: number;
  readonly high: number;
  /** The confidence level of the interval, from 0 to 1. */
  readonly level: number;
  readonly limit: number;
  /** The number of pairs to measure next; 0: there are enough. */
  readonly more: number;
}

/** The default rounds of a suite. */
export const defaultRounds: readonly number[] = [5, 10, 20];

/** Returns the smallest relevant change: 1 %, or more if equal artifacts differ by more in one of twenty cases. */
export function practicalLimit(noise: number | undefined): number {
  return noise !== undefined && Number.isFinite(noise) ? Math.max(0.01, noise) : 0.01;
}

/**
 * Judges whether interleaved processes of a child and its parent differ, and whether more are needed.
 *
 * A change must be significant and relevant; "no change" requires that the whole interval lies within irrelevant
 * changes. The interval is that of the test, so a change is never reported with an interval that contains zero.
 */
export function judgePairs(pairs: readonly Pair[], options: JudgeOptions): PairsJudgement {
  const { limit, rounds } = options;
  const usable = pairs.filter(
    ({ child, parent }) => Number.isFinite(child) && Number.isFinite(parent),
  );
  // Unusable pairs also count; otherwise a metric that is never measured would request pairs without end.
  const next = rounds.find((round) => round > pairs.length);
  const more = next === undefined ? 0 : next - pairs.length;
  if (usable.length === 0) {
    return { verdict: "undecided", p: null, effect: 0, low: 0, high: 0, level: 0, limit, more };
  }
  const alpha = alphaAfter(usable.length, rounds);
  const drawnIn = pairEffect(usable, alpha);
  const asTaken = pairEffectAsTaken(usable, alpha);
  const measured = figuresOf(drawnIn, asTaken, alpha, limit);
  const judged = { ...measured, limit };
  if (usable.length >= (rounds[0] ?? 1)) {
    if (measured.p <= alpha && Math.abs(measured.effect) >= limit) {
      return {
        verdict: sideOf(measured.effect, options.better),
        ...judged,
        more: options.isRerun === true ? more : 0,
      };
    }
    if (isWithin(drawnIn, limit) && isWithin(asTaken, limit))
      return { verdict: "no-change", ...judged, more: 0 };
  }
  return { verdict: "undecided", ...judged, more };
}

/**
 * Returns the effect to report. When two modes differ by as much as the change, some processes that show the change are
 * treated as outliers, which reduces the effect. A change that is significant in both estimates is then reported as
 * measured, if it is relevant only as measured.
 */
function figuresOf(
  drawnIn: PairEffect,
  asTaken: PairEffect,
  alpha: number,
  limit: number,
): PairEffect {
  const isSure = drawnIn.p <= alpha && asTaken.p <= alpha;
  const isSameSide = drawnIn.effect > 0 === asTaken.effect > 0;
  const matters = Math.abs(drawnIn.effect) < limit && Math.abs(asTaken.effect) >= limit;
  return isSure && isSameSide && matters ? asTaken : drawnIn;
}

export function sideOf(change: number, better: "lower" | "higher"): "regressed" | "improved" {
  return change > 0 === (better === "lower") ? "regressed" : "improved";
}

/** The confidence of an interval for "no change". */
const surelyWithin = 0.95;

/**
 * With five pairs, the interval from the smallest to the largest average has a confidence of only 80 %. Student's
 * interval of 99 % of three and two normal values is 3.8 times as wide, so that width is required.
 */
const widening = 3.8;

function isWithin({ effect, low, high, level }: PairEffect, limit: number): boolean {
  // Pairs with only one order have no interval.
  if (level <= 0) return false;
  const factor = level >= surelyWithin ? 1 : widening;
  return effect - factor * (effect - low) >= -limit && effect + factor * (high - effect) <= limit;
}
