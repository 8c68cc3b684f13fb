import { normalUpperTail } from "./normal-tail.ts";
import { rankGroups } from "./ranks.ts";

interface RankTest {
  /** Of the first sample: pairs in which it is the greater, ties counting half. */
  readonly u: number;
  /** Two-sided. */
  readonly p: number;
}

/** Above it the normal approximation stands in for counting. benchstat draws the line there, too. */
const mostExact = 50;

/**
 * Do the two samples lie elsewhere? Mann and Whitney's test, two-sided, exact with ties for up to 50 values on
 * each side: of all ways to choose which of the pooled values are the first sample's, the share whose rank sum
 * lies at least as far from its middle.
 */
export function mannWhitney(a: readonly number[], b: readonly number[]): RankTest {
  if (a.length === 0 || b.length === 0) return { u: 0, p: 1 };
  const groups = rankGroups(a, b);
  const { u } = groups;
  const p =
    Math.max(a.length, b.length) <= mostExact
      ? exactP(groups.sizes, a.length, u)
      : approximateP(groups.sizes, a.length, b.length, u);
  return { u, p };
}

/** For the oracle: the approximation with the corrections for ties and continuity, at any size. */
export function mannWhitneyApproximate(a: readonly number[], b: readonly number[]): RankTest {
  const groups = rankGroups(a, b);
  return { u: groups.u, p: approximateP(groups.sizes, a.length, b.length, groups.u) };
}

/** `sizes`: how many of the pooled values are equal to each other, the least value first. */
function exactP(sizes: readonly number[], n: number, u: number): number {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const counts = doubledUCounts(sizes, n, total - n);
  const here = Math.round(2 * u);
  let below = 0;
  let above = 0;
  let all = 0;
  for (let doubled = 0; doubled < counts.length; doubled++) {
    const count = counts[doubled] ?? 0;
    all += count;
    if (doubled <= here) below += count;
    if (doubled >= here) above += count;
  }
  // With ties and different counts the distribution is asymmetric; like SciPy, this doubles the lesser tail.
  return Math.min(1, (2 * Math.min(below, above)) / all);
}

const kept = new Map<string, Float64Array>();

/**
 * How many of the choices of `n` values give each doubled u. Taking k of a group of t equal values, when j of the
 * smaller ones are taken and `below` values are smaller, adds k·(below - j) pairs won and k·(t - k) ties to u.
 * Only sums of counts: the relative error stays near that of one rounding each.
 */
function doubledUCounts(sizes: readonly number[], n: number, m: number): Float64Array {
  // Figures of a clock seldom tie: then the answer depends on the two counts alone.
  const key = sizes.length === n + m ? `${n} ${m}` : undefined;
  const known = key === undefined ? undefined : kept.get(key);
  if (known !== undefined) return known;
  const nothing = new Float64Array(0);
  let rows: Float64Array[] = [Float64Array.of(1)];
  let below = 0;
  for (const size of sizes) {
    const next: Float64Array[] = [];
    for (let taken = Math.max(0, below - m); taken <= Math.min(n, below); taken++) {
      const row = rows[taken] ?? nothing;
      for (let k = 0; k <= Math.min(size, n - taken); k++) {
        const added = 2 * k * (below - taken) + k * (size - k);
        const ways = choose(size, k);
        const into = atLeast(next[taken + k] ?? nothing, row.length + added);
        for (let i = 0; i < row.length; i++)
          into[i + added] = (into[i + added] ?? 0) + ways * (row[i] ?? 0);
        next[taken + k] = into;
      }
    }
    rows = next;
    below += size;
  }
  const counts = rows[n] ?? nothing;
  if (key !== undefined && kept.size < 200) kept.set(key, counts);
  return counts;
}

function atLeast(old: Float64Array, length: number): Float64Array {
  if (old.length >= length) return old;
  const into = new Float64Array(length);
  into.set(old);
  return into;
}

function choose(n: number, k: number): number {
  let ways = 1;
  for (let i = 1; i <= k; i++) ways = (ways * (n - k + i)) / i;
  return Math.round(ways);
}

function approximateP(sizes: readonly number[], n: number, m: number, u: number): number {
  const total = n + m;
  const ties = sizes.reduce((sum, size) => sum + size * (size * size - 1), 0);
  const variance = ((n * m) / 12) * (total + 1 - ties / (total * (total - 1)));
  // All are equal.
  if (!(variance > 0)) return 1;
  const distance = Math.abs(u - (n * m) / 2) - 0.5;
  return Math.min(1, 2 * normalUpperTail(distance / Math.sqrt(variance)));
}
