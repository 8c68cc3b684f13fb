/** Returns the median of sorted values; for an even count the mean of the middle two. NaN without values. */
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

/** Returns the q-th quantile (0 to 1) of sorted values, interpolated like R (type 7) and NumPy. */
export function quantileOfSorted(sorted: ArrayLike<number>, q: number): number {
  const at = q * (sorted.length - 1);
  const below = Math.min(Math.max(0, Math.floor(at)), sorted.length - 1);
  const lower = sorted[below] ?? Number.NaN;
  return between(lower, sorted[below + 1] ?? lower, at - below);
}

/**
 * Returns the medians of the lower and the upper half, as rustc-perf computes them: for an odd count the middle value
 * belongs to neither half; for an even count both middle values are left out. Null for fewer than three values.
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

/** This form is exact for huge and for equal values. */
function between(lower: number, upper: number, share: number): number {
  return lower === upper ? lower : lower * (1 - share) + upper * share;
}
