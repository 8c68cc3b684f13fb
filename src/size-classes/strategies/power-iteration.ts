/**
 * With 32 outcomes per class it takes tens of steps. With an error near 0, which the settings permit, it must not run
 * forever.
 */
const mostSteps = 10_000;

/**
 * Returns the stationary distribution of a transition matrix, within an error.
 *
 * @param matrix [to · n + from]; each column sums to 1.
 * @param start Sums to 1. Need not be a distribution: Buildbarn's first entry may be below 0.
 * @param error The sum of all changes of the last step is below it.
 */
export function powerIteration(
  matrix: readonly number[],
  start: readonly number[],
  error: number,
): { readonly probabilities: readonly number[]; readonly steps: number } {
  const n = start.length;
  let before = start.slice();
  let after = start.map(() => 0);
  for (let steps = 1; ; steps++) {
    let change = 0;
    for (let to = 0; to < n; to++) {
      let sum = 0;
      for (let from = 0; from < n; from++) {
        sum += (matrix[to * n + from] ?? 0) * (before[from] ?? 0);
      }
      after[to] = sum;
      change += Math.abs(sum - (before[to] ?? 0));
    }
    [before, after] = [after, before];
    if (change < error || steps === mostSteps) return { probabilities: before, steps };
  }
}

/**
 * The start values, as in Buildbarn: the last result, one half for classes without one, and the first so that all sum
 * to 1.
 */
export function startOf(
  sizeClasses: readonly number[],
  remembered: ReadonlyMap<number, number> | undefined,
): number[] {
  let others = 0;
  const start = sizeClasses.map((sizeClass, place) => {
    if (place === 0) return 0;
    const last = remembered?.get(sizeClass) ?? 0;
    const probability = last > 0 && last < 1 ? last : 0.5;
    others += probability;
    return probability;
  });
  start[0] = 1 - others;
  return start;
}
