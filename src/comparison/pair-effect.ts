import { median, quantileOfSorted } from "#statistics/quartiles.ts";
import { leastP, twoOrders } from "#statistics/two-orders.ts";

export interface Pair {
  readonly child: number;
  readonly parent: number;
  /** Whether the parent's process ran first; this was chosen at random. */
  readonly parentFirst: boolean;
}

/** The difference between child and parent, and its significance, from one statistical test. */
export interface PairEffect {
  /** The exact two-sided p-value. */
  readonly p: number;
  /** Relative change from parent to child. */
  readonly effect: number;
  /** Its interval; zero is outside exactly when `p` is at most 1 - `level`. */
  readonly low: number;
  readonly high: number;
  readonly level: number;
}

/**
 * Wilcoxon's rank-sum test between the pairs of both orders, over the logarithms of their ratios, with its own estimate
 * and interval. A disturbance of both processes of a pair cancels out in their ratio, and an advantage of the first
 * process of each pair cancels out between the orders.
 *
 * `alpha`: one minus the confidence level of the interval. With too few pairs for such a small p, the widest possible
 * interval is returned.
 */
export function pairEffect(pairs: readonly Pair[], alpha: number): PairEffect {
  return effectOf(pairs, alpha, drawnIn);
}

/**
 * The same test over the unmodified figures. When two modes differ by as much as the change, the slower mode of the
 * faster program equals the faster mode of the slower one: most processes then have this figure, and those that show
 * the change would be treated as outliers.
 */
export function pairEffectAsTaken(pairs: readonly Pair[], alpha: number): PairEffect {
  return effectOf(pairs, alpha, (children, parents) => [children, parents]);
}

type Prepare = typeof drawnIn;

function effectOf(pairs: readonly Pair[], alpha: number, prepare: Prepare): PairEffect {
  const changes = changesOf(pairs, prepare);
  const one = changes.values.filter((_, i) => pairs[i]?.parentFirst === true);
  const other = changes.values.filter((_, i) => pairs[i]?.parentFirst !== true);
  const usedAlpha = Math.max(alpha, leastP(one.length, other.length));
  const { point, p, interval } = twoOrders(one, other);
  const { low, high } = interval(usedAlpha) ?? { low: point, high: point };
  return {
    p,
    effect: changes.back(point),
    low: changes.back(low),
    high: changes.back(high),
    level: 1 - usedAlpha,
  };
}

function changesOf(
  pairs: readonly Pair[],
  prepare: Prepare,
): {
  values: readonly number[];
  back: (value: number) => number;
} {
  const [children, parents] = prepare(
    pairs.map(({ child }) => Math.log(child)),
    pairs.map(({ parent }) => Math.log(parent)),
  );
  const logs = children.map((child, i) => child - (parents[i] as number));
  // Larger logarithms give changes that JSON cannot represent.
  if (logs.every((log) => Math.abs(log) < 700)) return { values: logs, back: Math.expm1 };
  // Zero or negative figures have no ratio; they are compared by difference, relative to the typical value.
  const scale =
    Math.abs(median(pairs.map(({ parent }) => parent))) ||
    Math.max(...pairs.flatMap(({ child, parent }) => [Math.abs(child), Math.abs(parent)])) ||
    1;
  const finite = (value: number) => Math.max(-1e300, Math.min(1e300, value));
  return {
    values: pairs.map(({ child, parent }) => finite(child / scale - parent / scale)),
    back: (value) => value,
  };
}

/** The allowed distance of a process from the median, in standard deviations estimated from the quartiles. */
const farAway = 2;

/**
 * Moves outliers to the usual range of all processes: otherwise the delay of one process would outweigh the change in
 * each average that contains it. The usual range does not depend on the side of a process, so the test keeps its level.
 */
function drawnIn(
  children: readonly number[],
  parents: readonly number[],
): readonly [readonly number[], readonly number[]] {
  const all = [...children, ...parents];
  const middle = median(all);
  // Not the median distance: with a coarse clock, half of the figures may equal the median.
  const sorted = all.toSorted((a, b) => a - b);
  const reach =
    (farAway * (quantileOfSorted(sorted, 0.75) - quantileOfSorted(sorted, 0.25))) / 1.349;
  if (!(reach > 0) || !Number.isFinite(reach)) return [children, parents];
  const draw = (each: number) => Math.max(middle - reach, Math.min(middle + reach, each));
  return [children.map(draw), parents.map(draw)];
}
