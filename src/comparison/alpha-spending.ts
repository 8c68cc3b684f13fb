/** How often at most two equal artifacts may be taken for different ones before the rerun that confirms. */
export const gateAlpha = 0.01;

/** What a rerun must show, with the same sign. */
export const confirmAlpha = 0.05;

/**
 * The p-value that must not be exceeded after `pairs` of the rounds' pairs.
 *
 * Looking thrice gives chance three chances: each round may spend of `gateAlpha` as much as it adds of all pairs,
 * and what a round cannot spend, because so few pairs have no p-value that small, is left for the next. Of
 * 5, 10 and 20 pairs that is nothing, .005 and .005: the sum bounds the error whatever the figures are like.
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
    alpha = leastP(round) <= left ? left : 0;
    if (alpha > 0) left = 0;
  }
  return alpha;
}

/** The least two-sided p-value that n values against n can have: two of all choices. */
function leastP(n: number): number {
  let choices = 1;
  for (let i = 1; i <= n; i++) choices = (choices * (n + i)) / i;
  return 2 / choices;
}
