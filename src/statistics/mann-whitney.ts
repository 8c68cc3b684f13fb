import { normalUpperTail } from "./normal-tail.ts";
import { rankGroups } from "./ranks.ts";

interface RankTest {
  /**
   * The statistic of the first sample: the number of pairs in which its value is larger; ties count
   * half.
   */
  readonly u: number;
  /** The two-sided p-value. */
  readonly p: number;
}

/** For larger samples the normal approximation is used instead of counting. benchstat has the same limit. */
const mostExact = 50;

/**
 * Tests whether the two samples have different locations. It is Mann and Whitney's two-sided test, exact with ties for
 * up to 50 values on each side: p is the share, among all choices of pooled values for the first sample, whose rank sum
 * is at least as far from the middle.
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

/** For the comparison with SciPy: the approximation with the corrections for ties and continuity, at any size. */
export function mannWhitneyApproximate(a: readonly number[], b: readonly number[]): RankTest {
  const groups = rankGroups(a, b);
  return { u: groups.u, p: approximateP(groups.sizes, a.length, b.length, groups.u) };
}

/** `sizes`: how many of the pooled values are equal to each other, in ascending order of the values. */
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
  // With ties and different counts the distribution is asymmetric; like SciPy, this doubles the smaller tail.
  return Math.min(1, (2 * Math.min(below, above)) / all);
}

const kept = new Map<string, Float64Array>();

/**
 * Returns how many of the choices of `n` values have each doubled u. Choosing k of a group of t equal values, when j of
 * the smaller values are chosen and `below` values are smaller, adds k·(below - j) won pairs and k·(t - k) ties to u.
 * It only adds counts, so the relative error is close to one rounding for each.
 */
function doubledUCounts(sizes: readonly number[], n: number, m: number): Float64Array {
  // Measured times rarely tie. Without ties the result depends only on the two counts.
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
  // All values are equal.
  if (!(variance > 0)) return 1;
  const distance = Math.abs(u - (n * m) / 2) - 0.5;
  return Math.min(1, 2 * normalUpperTail(distance / Math.sqrt(variance)));
}
