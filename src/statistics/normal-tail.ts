/** Returns P(Z ≥ z) of the standard normal distribution, precise also for small tails. */
export function normalUpperTail(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const tail = (x < 2 ? 1 - errorFunction(x) : complementFraction(x)) / 2;
  return z < 0 ? 1 - tail : tail;
}

/** A series of positive terms, so there is no cancellation. */
function errorFunction(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; term > sum * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** Laplace's continued fraction, evaluated from its end: for 2 and more, a hundred steps give all digits. */
function complementFraction(x: number): number {
  let fraction = 0;
  for (let n = 100; n >= 1; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * (x + fraction));
}
