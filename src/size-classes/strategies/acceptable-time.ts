/**
 * How many times longer a smaller class may take than the largest: (S_largest / S_smaller)^x of the original design.
 */
export function acceptableIncrease(largest: number, smaller: number, exponent: number): number {
  return (largest / smaller) ** exponent;
}

/** T_acceptable = T_largest · (S_largest / S_smaller)^x, the original design's formula. */
export function acceptableMs(
  largestMs: number,
  largest: number,
  smaller: number,
  exponent: number,
): number {
  return largestMs * acceptableIncrease(largest, smaller, exponent);
}
