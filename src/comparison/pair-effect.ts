import { pseudoMedianInterval } from "#statistics/pseudo-median-interval.ts";
import { median } from "#statistics/quartiles.ts";

export interface Pair {
  readonly child: number;
  readonly parent: number;
}

export interface PairEffect {
  /** Relative change from parent to child. */
  readonly effect: number;
  /** Its 99 % interval. */
  readonly low: number;
  readonly high: number;
}

/**
 * How far the child lies from its parent: Hodges' and Lehmann's estimate over the logarithms of the pairs' ratios.
 * What slows both processes of a pair (a neighbour, a warm room) is gone from their ratio. Whole pairs are drawn for
 * the interval.
 */
export function pairEffect(pairs: readonly Pair[], seed: string | number): PairEffect {
  const changes = changesOf(pairs);
  const { point, ...interval } = pseudoMedianInterval(changes.values, { seed, level: 0.99 });
  return {
    effect: changes.back(point),
    low: changes.back(Math.min(interval.low, point)),
    high: changes.back(Math.max(interval.high, point)),
  };
}

function changesOf(pairs: readonly Pair[]): {
  values: readonly number[];
  back: (value: number) => number;
} {
  const logs = pairs.map(({ child, parent }) => Math.log(child) - Math.log(parent));
  // Logarithms beyond this give changes that no JSON can hold.
  if (logs.every((log) => Math.abs(log) < 700)) return { values: logs, back: Math.expm1 };
  // Figures of zero or below have no ratio: differences then, relative to what is usual.
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
