import { normalUpperTail } from "#statistics/normal-tail.ts";
import { centredRanks } from "#statistics/ranks.ts";
import type { Pair } from "./judge-pairs.ts";

/** With fewer figures, the shape is not tested. */
const leastFigures = 10;

/**
 * Returns irregularities in the figures of interleaved processes, in the order of measurement. They weaken a verdict
 * and never strengthen it.
 */
export function shapeWarnings(pairs: readonly Omit<Pair, "parentFirst">[]): string[] {
  if (pairs.length < leastFigures) return [];
  const sides = [pairs.map(({ child }) => child), pairs.map(({ parent }) => parent)];
  const warnings: string[] = [];
  if (sides.some(hasTwoModes))
    warnings.push("two modes: the figures of the processes form two groups");
  if (sides.some(driftsSurely)) warnings.push("drift: figures rise or fall within the lease");
  else if (sides.some(followsItself))
    warnings.push("autocorrelation: a figure resembles the one before it");
  return warnings;
}

/**
 * Returns whether the figures have a gap with at least a fifth of them on each side that is too wide for uniformly
 * distributed figures: see `widestGap`. A gap below two steps of the clock is caused by the clock.
 */
function hasTwoModes(values: readonly number[]): boolean {
  const sorted = values.toSorted((a, b) => a - b);
  const gaps = sorted.slice(1).map((value, i) => value - (sorted[i] ?? value));
  const range = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
  // The true distance of two values that differ by one step of the clock is unknown.
  const step = Math.min(...gaps.filter((gap) => gap > 1e-9 * range));
  const wide = Math.max(widestGap(values.length) * range, 1.5 * step);
  const least = Math.max(3, Math.ceil(values.length / 5));
  return gaps.slice(least - 1, values.length - least).some((gap) => gap > wide);
}

/**
 * The share of the range that one of the gaps exceeds once in 2,000 sets, by the union bound: with n uniform figures, a
 * gap exceeds the share s with probability (1 - s)^(n - 2). With a normal distribution, the gaps are at the ends. Half
 * of the range is always needed.
 */
function widestGap(count: number): number {
  return Math.max(0.5, 1 - (0.0005 / count) ** (1 / (count - 2)));
}

/** Kendall's test for a trend over time, with a false-positive rate of 0.1 %. */
function driftsSurely(values: readonly number[]): boolean {
  const n = values.length;
  let score = 0;
  values.forEach((value, i) => {
    for (let j = i + 1; j < n; j++) score += Math.sign((values[j] ?? value) - value);
  });
  const spread = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  return 2 * normalUpperTail((Math.abs(score) - 1) / spread) < 0.001;
}

/**
 * The correlation of neighbours, over ranks, so that one delayed process has limited weight; the false-positive rate is
 * about 0.1 %. Equal figures share a rank: if they were ordered by time, a coarse clock would look like a trend.
 */
function followsItself(values: readonly number[]): boolean {
  const ranks = centredRanks(values);
  let squares = 0;
  let products = 0;
  ranks.forEach((rank, i) => {
    squares += rank * rank;
    products += rank * (ranks[i + 1] ?? 0);
  });
  return squares > 0 && products / squares > 3.1 / Math.sqrt(values.length);
}
