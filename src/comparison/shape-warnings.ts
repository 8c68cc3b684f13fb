import { normalUpperTail } from "#statistics/normal-tail.ts";
import type { Pair } from "./judge-pairs.ts";

/** Fewer figures have no shape. */
const leastFigures = 10;

/** What is odd about the figures of interleaved processes, in the order they were taken. Weakens a verdict, never strengthens it. */
export function shapeWarnings(pairs: readonly Pair[]): string[] {
  if (pairs.length < leastFigures) return [];
  const sides = [pairs.map(({ child }) => child), pairs.map(({ parent }) => parent)];
  const warnings: string[] = [];
  if (sides.some(hasTwoModes)) warnings.push("two modes: the processes fall into two groups");
  if (sides.some(driftsSurely)) warnings.push("drift: figures rise or fall within the lease");
  else if (sides.some(followsItself))
    warnings.push("autocorrelation: a figure resembles the one before it");
  return warnings;
}

/**
 * A gap as wide as half of the figures' range, with a fifth of them or more on either side. Of 20 normal
 * figures one set in some thousands looks so.
 */
function hasTwoModes(values: readonly number[]): boolean {
  const sorted = values.toSorted((a, b) => a - b);
  const range = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
  const least = Math.max(3, Math.ceil(values.length / 5));
  for (let below = least; below <= sorted.length - least; below++) {
    if ((sorted[below] ?? 0) - (sorted[below - 1] ?? 0) > range / 2) return true;
  }
  return false;
}

/** Kendall's trend with time, at one in a thousand. */
function driftsSurely(values: readonly number[]): boolean {
  const n = values.length;
  let score = 0;
  values.forEach((value, i) => {
    for (let j = i + 1; j < n; j++) score += Math.sign((values[j] ?? value) - value);
  });
  const spread = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  return 2 * normalUpperTail((Math.abs(score) - 1) / spread) < 0.001;
}

/** The correlation of neighbours, over ranks so that one delayed process counts for one; at about one in a thousand. */
function followsItself(values: readonly number[]): boolean {
  const order = values.map((_, i) => i).toSorted((i, j) => (values[i] ?? 0) - (values[j] ?? 0));
  const ranks = values.map(() => 0);
  order.forEach((index, rank) => {
    ranks[index] = rank - (values.length - 1) / 2;
  });
  let squares = 0;
  let products = 0;
  ranks.forEach((rank, i) => {
    squares += rank * rank;
    products += rank * (ranks[i + 1] ?? 0);
  });
  return squares > 0 && products / squares > 3.1 / Math.sqrt(values.length);
}
