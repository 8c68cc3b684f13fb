/** The median of sorted values; of an even count the mean of the middle two. NaN of none. */
function medianOfSorted(sorted: readonly number[]): number {
  const { length } = sorted;
  const above = sorted[length >> 1];
  if (above === undefined) return Number.NaN;
  if (length % 2 === 1) return above;
  return between(sorted[(length >> 1) - 1] ?? above, above, 0.5);
}

export function median(values: readonly number[]): number {
  return medianOfSorted(values.toSorted((a, b) => a - b));
}

/** The q-th quantile (0 to 1) of sorted values, interpolated as R (type 7) and NumPy do. */
export function quantileOfSorted(sorted: ArrayLike<number>, q: number): number {
  const at = q * (sorted.length - 1);
  const below = Math.min(Math.max(0, Math.floor(at)), sorted.length - 1);
  const lower = sorted[below] ?? Number.NaN;
  return between(lower, sorted[below + 1] ?? lower, at - below);
}

/**
 * Medians of the lower and the upper half, as rustc-perf takes them: of an odd count the middle value belongs
 * to neither half; of an even count it leaves out both middle values. Null for fewer than three.
 */
export function rustcQuartiles(sorted: readonly number[]): { q1: number; q3: number } | undefined {
  const { length } = sorted;
  if (length < 3) return undefined;
  const half = Math.floor(length / 2);
  return {
    q1: medianOfSorted(sorted.slice(0, length % 2 === 0 ? half - 1 : half)),
    q3: medianOfSorted(sorted.slice(half + 1)),
  };
}

/** Written so that neither huge nor equal values lose anything. */
function between(lower: number, upper: number, share: number): number {
  return lower === upper ? lower : lower * (1 - share) + upper * share;
}
