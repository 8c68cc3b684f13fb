import { incompleteBeta } from "./incomplete-beta.ts";

/**
 * Returns P(|T| ≥ |t|) of Student's distribution, precise also in far tails, because change points are ordered by them.
 */
export function studentTwoSided(t: number, degrees: number): number {
  if (Number.isNaN(t) || !(degrees > 0)) return Number.NaN;
  if (!Number.isFinite(t)) return 0;
  const square = t * t;
  return incompleteBeta(
    degrees / (degrees + square),
    square / (degrees + square),
    degrees / 2,
    0.5,
  );
}

/** Returns the t that |T| exceeds with probability `p`. */
export function studentQuantile(p: number, degrees: number): number {
  let low = 0;
  let high = 1;
  while (studentTwoSided(high, degrees) > p && high < 1e300) high *= 2;
  for (let i = 0; i < 200 && high - low > 1e-14 * high; i++) {
    const middle = (low + high) / 2;
    if (studentTwoSided(middle, degrees) > p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
