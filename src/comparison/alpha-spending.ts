import { attainableP } from "#statistics/two-orders.ts";

/**
 * How often at most two equal artifacts may be taken for different ones before the rerun that confirms. Claims are
 * cheap, and what is told must pass both: together, with the same sign, 0.025 %. Simulated over 24 noise models, this
 * division finds the most changes.
 */
export const gateAlpha = 0.03;

/** What a rerun must show, with the same sign. */
export const confirmAlpha = 1 / 60;

/**
 * The p-value that must not be exceeded after `pairs` of the rounds' pairs.
 *
 * Looking thrice gives chance three chances: each round may spend of `gateAlpha` as much as it adds of all pairs,
 * and what a round cannot spend, because so few pairs have no such p-value, is left for the next. Of 5, 10 and 20 pairs
 * that is nothing, .008 and .019: the sum bounds the error whatever the figures are like.
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
