/** Returns the probability of at least this many hits in this many trials, each with the probability `p`. */
export function binomialTail(hits: number, trials: number, p: number): number {
  if (hits <= 0) return 1;
  if (hits > trials) return 0;
  // In logarithms, because the terms of many trials are smaller than any number.
  let log = trials * Math.log1p(-p);
  let below = 0;
  let tail = 0;
  for (let k = 0; k <= trials; k++) {
    if (k < hits) below += Math.exp(log);
    else tail += Math.exp(log);
    log += Math.log((trials - k) / (k + 1)) + Math.log(p) - Math.log1p(-p);
  }
  // The smaller of both sums has lost fewer digits.
  return below < tail ? 1 - below : tail;
}
