import { fisherOfTwo } from "#statistics/fisher.ts";
import { alphaAfter, confirmAlpha } from "./alpha-spending.ts";
import { type JudgeOptions, judgePairs, type Pair, type PairsJudgement } from "./judge-pairs.ts";
import { type PairEffect, pairEffect } from "./pair-effect.ts";
import { shapeWarnings } from "./shape-warnings.ts";

/** The judgement of one metric by the pairs of one case, before adjustment for the other cases. */
export interface NoisyJudgement extends PairsJudgement {
  readonly pairs: number;
  /** Null: there is no claimed change to confirm, or no rerun yet. */
  readonly confirmed: boolean | null;
  /** The result of the rerun; null: there is none, or it is too small. */
  readonly again: (PairEffect & { readonly pairs: number }) | null;
  /** The evidence of both runs together. */
  readonly pooledP: number | null;
  readonly warnings: readonly string[];
}

/**
 * A rerun with fewer pairs is not used as evidence. Ten pairs can confirm a change; five pairs that show no change can
 * refute it.
 */
const leastToConfirm = 4;

/** Judges pairs together with an independent rerun of them, if there is one. */
export function judgeNoisy(
  paired: readonly Pair[],
  rerun: readonly Pair[],
  options: JudgeOptions,
): NoisyJudgement {
  const judged = judgePairs(paired, options);
  const warnings = shapeWarnings(paired);
  const claims = judged.verdict === "regressed" || judged.verdict === "improved";
  const usable = rerun.filter(
    ({ child, parent }) => Number.isFinite(child) && Number.isFinite(parent),
  );
  if (!claims || usable.length < leastToConfirm) {
    // A verdict with shape warnings does not count until the change is confirmed.
    const verdict = warnings.length > 0 ? "undecided" : judged.verdict;
    return {
      ...judged,
      verdict,
      pairs: paired.length,
      confirmed: null,
      again: null,
      pooledP: judged.p,
      warnings,
    };
  }
  const again = pairEffect(usable, confirmAlpha);
  const confirmed = again.p <= confirmAlpha && Math.sign(again.effect) === Math.sign(judged.effect);
  return {
    ...judged,
    // Two contradicting runs prove neither a change nor "no change".
    verdict: confirmed ? judged.verdict : "undecided",
    pairs: paired.length,
    confirmed,
    again: { ...again, pairs: usable.length },
    pooledP: confirmed ? fisherOfTwo(judged.p ?? 1, again.p) : judged.p,
    warnings,
  };
}

/** Returns whether pairs claim a change at all: then a rerun is useful, even if warnings weaken the claim. */
export function claimsChange(
  evidence: {
    readonly pairs: number;
    readonly p: number | null;
    readonly effect: number;
    readonly limit: number;
  },
  rounds: readonly number[],
): boolean {
  return (
    evidence.p !== null &&
    evidence.p <= alphaAfter(evidence.pairs, rounds) &&
    Math.abs(evidence.effect) >= evidence.limit
  );
}
