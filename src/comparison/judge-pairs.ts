import type { Verdict } from "#api/benchmark-comparison.ts";
import { mannWhitney } from "#statistics/mann-whitney.ts";
import { alphaAfter } from "./alpha-spending.ts";
import { type Pair, type PairEffect, pairEffect } from "./pair-effect.ts";

export type { Pair };

export interface JudgeOptions {
  /** Relative changes below it do not matter: see `practicalLimit`. */
  readonly limit: number;
  /** The same seed gives the same interval: see `pairSeed`. */
  readonly seed: string | number;
  /** After how many pairs is judged. */
  readonly rounds: readonly number[];
  readonly better: "lower" | "higher";
}

export interface PairsJudgement {
  readonly verdict: Exclude<Verdict, "unlike-machines">;
  /** Exact, two-sided; null: there are no pairs. */
  readonly p: number | null;
  readonly effect: number;
  readonly low: number;
  readonly high: number;
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
 * Of the draws of intervals. The same everywhere: a collector and a server that drew other numbers might disagree
 * whether enough is known, and draws that all cases share are made once.
 */
export const pairSeed = "pairs";

/**
 * Whether interleaved processes of a child and its parent differ, and whether more are needed to say so.
 *
 * The gate takes child and parent as two samples: a drift that both follow only makes it more careful. A change
 * must pass it and matter; no change is said only where the whole interval lies within what does not matter.
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
    return { verdict: "undecided", p: null, effect: 0, low: 0, high: 0, limit, more };
  }
  const { p } = mannWhitney(
    usable.map(({ child }) => child),
    usable.map(({ parent }) => parent),
  );
  const measured = pairEffect(usable, options.seed);
  const judged = { p, ...measured, limit };
  if (usable.length >= (rounds[0] ?? 1)) {
    if (p <= alphaAfter(usable.length, rounds) && Math.abs(measured.effect) >= limit) {
      return { verdict: sideOf(measured.effect, options.better), ...judged, more: 0 };
    }
    if (isWithin(measured, limit)) return { verdict: "no-change", ...judged, more: 0 };
  }
  return { verdict: "undecided", ...judged, more };
}

export function sideOf(change: number, better: "lower" | "higher"): "regressed" | "improved" {
  return change > 0 === (better === "lower") ? "regressed" : "improved";
}

function isWithin({ low, high }: PairEffect, limit: number): boolean {
  return low >= -limit && high <= limit;
}
