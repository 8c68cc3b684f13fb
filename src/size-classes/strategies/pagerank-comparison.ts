import type { Outcomes } from "./pagerank-outcomes.ts";

/**
 * Returns the probability that one set of outcomes is faster than another: Mann–Whitney, moved slightly towards one
 * half.
 *
 * [1 + n_b + Σ over pairs (2 if a < b, 1 if equal)] / [2 + n_a + n_b + 2 n_a n_b], where failures are all equal and
 * slower than any success. P(a, a) = ½, P(a, b) + P(b, a) = 1; never 0 or 1, because the power iteration would then not
 * converge.
 */
export function fasterProbability(a: Outcomes, b: Outcomes): number {
  const aCount = a.successesMs.length + a.failures;
  const bCount = b.successesMs.length + b.failures;
  let points = 1 + bCount + a.failures * b.failures;
  let faster = 0;
  let notSlower = 0;
  for (const ms of a.successesMs) {
    while (faster < b.successesMs.length && at(b, faster) < ms) faster++;
    while (notSlower < b.successesMs.length && at(b, notSlower) <= ms) notSlower++;
    points += 2 * (bCount - notSlower) + (notSlower - faster);
  }
  return points / (2 + aCount + bCount + 2 * aCount * bCount);
}

function at({ successesMs }: Outcomes, place: number): number {
  return successesMs[place] ?? Number.POSITIVE_INFINITY;
}

/**
 * Returns the transition probabilities of one step: from `from` to `to` at [to · n + from], in proportion to the
 * probability that `to` is faster. Each column sums to 1.
 */
export function transitions(outcomes: readonly Outcomes[]): number[] {
  const n = outcomes.length;
  const matrix = Array.from({ length: n * n }, () => 0);
  const stays = outcomes.map(() => 1);
  outcomes.forEach((a, i) => {
    for (let j = 0; j < i; j++) {
      const b = outcomes[j];
      if (b === undefined) continue;
      const faster = fasterProbability(a, b);
      const toI = faster / (n - 1);
      const toJ = (1 - faster) / (n - 1);
      matrix[i * n + j] = toI;
      matrix[j * n + i] = toJ;
      stays[j] = (stays[j] ?? 0) - toI;
      stays[i] = (stays[i] ?? 0) - toJ;
    }
  });
  stays.forEach((share, i) => {
    matrix[i * n + i] = share;
  });
  return matrix;
}
