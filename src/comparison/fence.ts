import { rustcQuartiles } from "#statistics/quartiles.ts";

/**
 * The number of predecessors that a fence requires; with fewer there is no fence. rustc-perf went back from 100 to 30
 * to follow noise faster.
 */
export const fenceHistory = 30;

/** The threshold when the noise is unknown; the same as in rustc-perf. */
export const thresholdWithoutHistory = 0.002;

/**
 * The smallest reported change of a deterministic metric. A program without changes for a month has a fence of 0, so
 * every added line would be reported. Metrics for which every difference matters are declared as exact.
 */
export const leastThreshold = 0.002;

export interface Fence {
  /** |relative change| from which a change is significant. */
  readonly threshold: number;
  /** The number of values that it is based on; 0: the fixed threshold. */
  readonly history: number;
}

/** Returns the fence for verdicts: rustc-perf's, but at least `leastThreshold`. */
export function deterministicFence(history: readonly number[]): Fence {
  const { threshold, history: count } = rustcFence(history);
  return { threshold: Math.max(threshold, leastThreshold), history: count };
}

/**
 * Returns how far a deterministic figure varies without any change, by rustc-perf's formula: three times the
 * interquartile range above the upper quartile of the steps between neighbours.
 *
 * `history`: values of the predecessors of the earlier artifact, without that artifact itself, newest first.
 */
export function rustcFence(history: readonly number[]): Fence {
  const none: Fence = { threshold: thresholdWithoutHistory, history: 0 };
  if (history.length < fenceHistory) return none;
  const values = history.slice(0, fenceHistory);
  // Each step relative to the newer of its two values, although the comparison is relative to the older; rustc-perf
  // does the same.
  const steps = values
    .slice(0, -1)
    .map((value, i) => stepOf(value, values[i + 1] ?? value))
    .toSorted((a, b) => a - b);
  const quartiles = rustcQuartiles(steps);
  if (quartiles === undefined) return none;
  const threshold = quartiles.q3 + 3 * (quartiles.q3 - quartiles.q1);
  // A history of zeros before a non-zero value contains no information about noise.
  return Number.isFinite(threshold) ? { threshold, history: fenceHistory } : none;
}

function stepOf(newer: number, older: number): number {
  return newer === older ? 0 : Math.abs((newer - older) / newer);
}
