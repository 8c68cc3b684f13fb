import { normalUpperTail } from "./normal-tail.ts";
import { median } from "./quartiles.ts";

interface TwoOrders {
  /** The median of all averages of a value of one order with one of the other. */
  readonly point: number;
  /** Two-sided. */
  readonly p: number;
  /** The interval of all shifts that the test does not refuse at `alpha`; undefined where no p is that small. */
  readonly interval: (alpha: number) => { readonly low: number; readonly high: number } | undefined;
}

/**
 * Tests whether differences lie around zero, where each was taken in one of two orders that were drawn by chance:
 * Wilcoxon's rank-sum test between the differences of one order and the negated ones of the other.
 *
 * What always favours the first (or the second) of a pair moves both groups alike, and is gone. Chance chose the
 * orders, so equal programs give each split alike whatever the machine's rhythm, drift or memory is.
 *
 * Estimate, p and interval are all read from the sorted averages over both orders: the interval at `alpha` leaves out
 * zero exactly when p is at most `alpha`. Averages that are zero count against a difference, which makes the test
 * conservative where values are tied.
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
      // The greatest rank so that shifts before that average are refused.
      let rank = 0;
      while (rank < m / 2 && 2 * tail(rank) <= alpha) rank++;
      return rank === 0 ? undefined : { low: at(rank - 1), high: at(m - rank) };
    },
  };
}

/** The greatest p-value up to `limit` that so many values of each order can have; 0: each is greater. */
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

/** The least p-value that so many values of each order can have. */
export function leastP(one: number, other: number): number {
  return Math.min(1, 2 * lowerTail(one, other)(0));
}

/** Up to so many values on a side the distribution is exact; beyond, normal with a correction for continuity. */
const mostExact = 50;

const tails = new Map<string, Float64Array>();

/** P(U <= u) of the rank-sum statistic where chance splits the values. */
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

/** Cumulative, by how many of each sum there are: the coefficients of Gauss's binomial. */
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
