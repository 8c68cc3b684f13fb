/** The quantile of the normal distribution for an interval of 95 %. */
const z = 1.959_963_984_540_054;

/** A share with its interval of confidence; all between 0 and 1. */
interface ShareEstimate {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Returns a share of counted cases with Wilson's score interval of 95 % (E. B. Wilson, 1927).
 *
 * Unlike the usual interval it is right for few cases, and for shares near 0 and 1: it never leaves them.
 */
export function wilsonInterval(cases: number, all: number): ShareEstimate {
  if (all === 0) return { share: 0, low: 0, high: 1 };
  const share = cases / all;
  const square = (z * z) / all;
  const middle = share + square / 2;
  const half = z * Math.sqrt((share * (1 - share) + square / 4) / all);
  // Rounding would otherwise leave 0 and 1 by the last digit.
  const within = (value: number) => Math.min(1, Math.max(0, value));
  return {
    share,
    low: cases === 0 ? 0 : within((middle - half) / (1 + square)),
    high: cases === all ? 1 : within((middle + half) / (1 + square)),
  };
}
