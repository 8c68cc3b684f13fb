import { rustcQuartiles } from "#statistics/quartiles.ts";

/** Predecessors that a fence rests on; fewer are none. rustc-perf went back from 100 to 30 to follow noise faster. */
export const fenceHistory = 30;

/** The threshold when the noise is unknown; rustc-perf's figure, too. */
export const thresholdWithoutHistory = 0.002;

/**
 * The least change of a deterministic metric that is reported. A program without changes for a month has a fence of 0,
 * and then every added line would be a change. For metrics where every difference matters there are exact metrics.
 */
export const leastThreshold = 0.002;

export interface Fence {
  /** |relative change| from which one is significant. */
  readonly threshold: number;
  /** Values that it rests on; 0: the fixed threshold. */
  readonly history: number;
}

/** The fence that verdicts are given by: rustc-perf's, and no lower than `leastThreshold`. */
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
  // Each step relative to the newer of its two values, although the comparison is relative to the older: so it is there.
  const steps = values
    .slice(0, -1)
    .map((value, i) => stepOf(value, values[i + 1] ?? value))
    .toSorted((a, b) => a - b);
  const quartiles = rustcQuartiles(steps);
  if (quartiles === undefined) return none;
  const threshold = quartiles.q3 + 3 * (quartiles.q3 - quartiles.q1);
  // A history of zeros that became something tells nothing of noise.
  return Number.isFinite(threshold) ? { threshold, history: fenceHistory } : none;
}

function stepOf(newer: number, older: number): number {
  return newer === older ? 0 : Math.abs((newer - older) / newer);
}
