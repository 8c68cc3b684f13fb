import { normalUpperTail } from "./normal-tail.ts";
import { median } from "./quartiles.ts";

interface TwoOrders {
  /** The median of all averages of a value of one order and a value of the other. */
  readonly point: number;
  /** The two-sided p-value. */
  readonly p: number;
  /**
   * Returns the interval of all shifts that the test does not reject at `alpha`; undefined when no p can be that small.
   */
  readonly interval: (alpha: number) => { readonly low: number; readonly high: number } | undefined;
}

/**
 * Tests whether differences are centred at zero, when each was measured in one of two randomly chosen orders:
 * Wilcoxon's rank-sum test between the differences of one order and the negated differences of the other.
 *
 * An effect that always favours the first (or the second) of a pair shifts both groups equally, and cancels. The orders
 * were random, so for equal programs each split is equally likely. Periodic changes, drift and memory effects of the
 * machine do not matter.
 *
 * Estimate, p and interval are all read from the sorted averages over both orders: the interval at `alpha` excludes
 * zero exactly when p is at most `alpha`. Averages of zero count against a difference, which makes the test
 * conservative for tied values.
 */
export function twoOrders(one: readonly number[], other: readonly number[]): TwoOrders {
  const m = one.length * other.length;
  if (m === 0) {
    const all = [...one, ...other];
    return { point: all.length === 0 ? 0 : median(all), p: 1, interval: () => undefined };
  }
  const averages = new Float64Array(m);
  let k = 0;
  let below = 0;
  let above = 0;
  for (const a of one) {
    for (const b of other) {
      const average = a / 2 + b / 2;
      averages[k++] = average;
      if (average < 0) below++;
      else if (average > 0) above++;
    }
  }
  averages.sort();
  const tail = lowerTail(one.length, other.length);
  const at = (rank: number) => averages[rank] as number;
  return {
    point: at((m - 1) >> 1) / 2 + at(m >> 1) / 2,
    p: Math.min(1, 2 * tail(m - Math.max(below, above))),
    interval(alpha) {
      // The largest rank for which shifts below that average are rejected.
      let rank = 0;
      while (rank < m / 2 && 2 * tail(rank) <= alpha) rank++;
      return rank === 0 ? undefined : { low: at(rank - 1), high: at(m - rank) };
    },
  };
}

/**
 * Returns the largest p-value up to `limit` that is possible with these counts of each order; 0 when all are larger.
 */
export function attainableP(one: number, other: number, limit: number): number {
  const tail = lowerTail(one, other);
  let found = 0;
  for (let t = 0; t <= (one * other) / 2; t++) {
    const p = Math.min(1, 2 * tail(t));
    if (p > limit) break;
    found = p;
  }
  return found;
}

/** Returns the smallest p-value that is possible with these counts of each order. */
export function leastP(one: number, other: number): number {
  return Math.min(1, 2 * lowerTail(one, other)(0));
}

/** Up to this many values on a side the distribution is exact; above, it is normal with a correction for continuity. */
const mostExact = 50;

const tails = new Map<string, Float64Array>();

/** Returns P(U <= u) of the rank-sum statistic when values are split at random. */
function lowerTail(one: number, other: number): (u: number) => number {
  const most = one * other;
  const inside = (tail: (u: number) => number) => (u: number) =>
    u < 0 ? 0 : u >= most ? 1 : tail(u);
  if (one > mostExact || other > mostExact) {
    const spread = Math.sqrt((most * (one + other + 1)) / 12);
    return inside((u) => normalUpperTail((most / 2 - u - 0.5) / spread));
  }
  const key = `${one} ${other}`;
  let tail = tails.get(key);
  if (tail === undefined) {
    tail = distribution(one, other);
    tails.set(key, tail);
  }
  const exact = tail;
  return inside((u) => exact[u] as number);
}

/** Returns the cumulative counts of each sum: the coefficients of Gauss's binomial. */
function distribution(one: number, other: number): Float64Array {
  const most = one * other;
  const ways = new Float64Array(most + 1);
  ways[0] = 1;
  for (let i = 1; i <= one; i++) {
    for (let u = most; u >= other + i; u--)
      ways[u] = (ways[u] as number) - (ways[u - other - i] as number);
    for (let u = i; u <= most; u++) ways[u] = (ways[u] as number) + (ways[u - i] as number);
  }
  let sum = 0;
  for (let u = 0; u <= most; u++) {
    sum += ways[u] as number;
    ways[u] = sum;
  }
  return ways.map((each) => each / sum);
}
