import { median, quantileOfSorted } from "#statistics/quartiles.ts";
import { leastP, twoOrders } from "#statistics/two-orders.ts";

export interface Pair {
  readonly child: number;
  readonly parent: number;
  /** Which of both processes ran first: chance chose it. */
  readonly parentFirst: boolean;
}

/** How far the child lies from its parent, and how sure that is: one test gives all of it. */
export interface PairEffect {
  /** Exact, two-sided. */
  readonly p: number;
  /** Relative change from parent to child. */
  readonly effect: number;
  /** Its interval, which leaves out zero exactly when `p` is at most 1 - `level`. */
  readonly low: number;
  readonly high: number;
  readonly level: number;
}

/**
 * Wilcoxon's rank-sum test between the pairs of both orders, over the logarithms of their ratios, with its own estimate
 * and interval. A disturbance of both processes of a pair cancels out in their ratio, and an advantage of the first
 * process of each pair cancels out between the orders.
 *
 * `alpha`: of the interval. Where there are too few pairs for such a small p, the widest possible interval is returned.
 */
export function pairEffect(pairs: readonly Pair[], alpha: number): PairEffect {
  return effectOf(pairs, alpha, drawnIn);
}

/**
 * The same test over the figures as they were measured. When two modes lie as far apart as the change, the slower mode
 * of the faster program equals the faster mode of the slower one: few processes then lie at one figure, and those that
 * show the change would be drawn in to it.
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
  // Logarithms beyond this give changes that no JSON can hold.
  if (logs.every((log) => Math.abs(log) < 700)) return { values: logs, back: Math.expm1 };
  // Figures of zero or below have no ratio; they are compared by difference, relative to the usual value.
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
 * Draws outliers in to the usual range of all processes: the delay of one process would outweigh the change in each
 * average that contains it. The usual range does not depend on the side of a process, so the test keeps its level.
 */
function drawnIn(
  children: readonly number[],
  parents: readonly number[],
): readonly [readonly number[], readonly number[]] {
  const all = [...children, ...parents];
  const middle = median(all);
  // Not the median distance: where a clock has steps, half of the figures may lie at the median itself.
  const sorted = all.toSorted((a, b) => a - b);
  const reach =
    (farAway * (quantileOfSorted(sorted, 0.75) - quantileOfSorted(sorted, 0.25))) / 1.349;
  if (!(reach > 0) || !Number.isFinite(reach)) return [children, parents];
  const draw = (each: number) => Math.max(middle - reach, Math.min(middle + reach, each));
  return [children.map(draw), parents.map(draw)];
}
