/** A distribution of positive values that vary by factors: the mean and deviation of their natural logarithm. */
export interface LogNormal {
  readonly mu: number;
  readonly sigma: number;
}

/** Standard normal deviates by cumulative share, from tables. */
export const deviates = { half: 0, p90: 1.2816, p95: 1.6449, p98: 2.0537, p999: 3.0902 } as const;

export function quantile(spread: LogNormal, deviate: number): number {
  return Math.exp(spread.mu + deviate * spread.sigma);
}

export function mean({ mu, sigma }: LogNormal): number {
  return Math.exp(mu + (sigma * sigma) / 2);
}

/** Returns the probability of a value above `limit`. */
export function tail({ mu, sigma }: LogNormal, limit: number): number {
  if (limit === Number.POSITIVE_INFINITY) return 0;
  if (limit <= 0) return 1;
  return above((Math.log(limit) - mu) / Math.max(sigma, 1e-6));
}

/** Returns the mean of the values above `limit`. */
export function meanAbove(spread: LogNormal, limit: number): number {
  const { mu, sigma } = spread;
  const share = tail(spread, limit);
  // At this distance, the formula divides zero by zero; the mean is only slightly above the limit there.
  if (share < 1e-6) return limit * (1 + sigma / 4);
  return (mean(spread) * above((Math.log(limit) - mu) / sigma - sigma)) / share;
}

/** Returns the probability that a standard normal deviate exceeds `z`. Abramowitz and Stegun 26.2.17, to 7.5e-8. */
export function above(z: number): number {
  if (z < 0) return 1 - above(-z);
  if (z > 38) return 0;
  const t = 1 / (1 + 0.2316419 * z);
  const polynomial =
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 0.3989422804 * Math.exp((-z * z) / 2) * polynomial;
}
