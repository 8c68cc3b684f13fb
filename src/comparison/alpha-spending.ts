import { attainableP } from "#statistics/two-orders.ts";

/**
 * The highest false-positive rate for equal artifacts before the confirming rerun. A change that is not significant
 * among all judged cases becomes undecided. The rerun that should confirm it adds evidence, and may make it significant
 * again. Simulations with 24 noise models showed that this division finds the most changes.
 */
export const gateAlpha = 0.03;

/** The p-value that a rerun must reach, with the same sign. */
export const confirmAlpha = 1 / 60;

/**
 * Returns the p-value that must not be exceeded after `pairs` of the rounds' pairs.
 *
 * Three tests give chance three opportunities: each round may use the share of `gateAlpha` that corresponds to its
 * pairs. A round with too few pairs for such a p-value leaves its share to the next. With 5, 10 and 20 pairs these
 * p-values are 0, 0.008 and 0.019: their sum bounds the error for every distribution.
 */
export function alphaAfter(pairs: number, rounds: readonly number[]): number {
  const last = rounds.at(-1) ?? pairs;
  let left = 0;
  let before = 0;
  let alpha = 0;
  for (const round of rounds) {
    if (round > pairs) break;
    left += gateAlpha * ((round - before) / last);
    before = round;
    alpha = attainableP(Math.ceil(round / 2), Math.floor(round / 2), left);
    left -= alpha;
  }
  return alpha;
}
