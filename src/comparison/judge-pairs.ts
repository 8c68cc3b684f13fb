import type { Verdict } from "#api/benchmark-comparison.ts";
import { alphaAfter } from "./alpha-spending.ts";
import { type Pair, type PairEffect, pairEffect, pairEffectAsTaken } from "./pair-effect.ts";

export type { Pair };

export interface JudgeOptions {
  /** Relative changes below it do not matter: see `practicalLimit`. */
  readonly limit: number;
  /** After how many pairs is judged. */
  readonly rounds: readonly number[];
  readonly better: "lower" | "higher";
  /**
   * A rerun goes on to the last round where it shows a change, too: the evidence of ten pairs would not stand out among
   * a hundred cases.
   */
  readonly isRerun?: boolean;
}

export interface PairsJudgement {
  readonly verdict: Exclude<Verdict, "unlike-machines">;
  /** Exact, two-sided; null: there are no pairs. */
  readonly p: number | null;
  readonly effect: number;
  readonly low: number;
  readonly high: number;
  /** Of the interval, from 0 to 1. */
  readonly level: number;
  readonly limit: number;
  /** Pairs wanted next; 0: enough. */
  readonly more: number;
}

/** What the suite language takes where a suite does not say. */
export const usualRounds: readonly number[] = [5, 10, 20];

/** The least change that matters: one in a hundred, and nothing that equal artifacts show one time in twenty. */
export function practicalLimit(noise: number | undefined): number {
  return noise !== undefined && Number.isFinite(noise) ? Math.max(0.01, noise) : 0.01;
}

/**
 * Whether interleaved processes of a child and its parent differ, and whether more are needed to say so.
 *
 * A change must be sure and matter; no change is said only where the whole interval lies within what does not matter.
 * The interval is that of the test: a change is never told beside an interval that holds zero.
 */
export function judgePairs(pairs: readonly Pair[], options: JudgeOptions): PairsJudgement {
  const { limit, rounds } = options;
  const usable = pairs.filter(
    ({ child, parent }) => Number.isFinite(child) && Number.isFinite(parent),
  );
  // Counted with those of no use: else a metric that is never taken would ask for pairs without end.
  const next = rounds.find((round) => round > pairs.length);
  const more = next === undefined ? 0 : next - pairs.length;
  if (usable.length === 0) {
    return { verdict: "undecided", p: null, effect: 0, low: 0, high: 0, level: 0, limit, more };
  }
  const alpha = alphaAfter(usable.length, rounds);
  const drawnIn = pairEffect(usable, alpha);
  const asTaken = pairEffectAsTaken(usable, alpha);
  const measured = toldOf(drawnIn, asTaken, alpha, limit);
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
 * Which effect is told. Of two modes that lie as far apart as the change, some processes that show it are drawn in, and the
 * effect with them: a change that is sure by both is then told as large as it was taken, where only that matters.
 */
function toldOf(
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

/** What an interval must be of, so that no change is said because of it. */
const surelyWithin = 0.95;

/**
 * Five pairs have an interval of 80 %, from the least average to the greatest. Student's interval of 99 % of three and
 * two normal values is 3.8 times as wide, and so is what is asked for there.
 */
const widening = 3.8;

function isWithin({ effect, low, high, level }: PairEffect, limit: number): boolean {
  // Pairs of one order alone have no interval.
  if (level <= 0) return false;
  const factor = level >= surelyWithin ? 1 : widening;
  return effect - factor * (effect - low) >= -limit && effect + factor * (high - effect) <= limit;
}
