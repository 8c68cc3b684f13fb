import type { PastRun } from "../past-run.ts";
import { ascending } from "./ascending.ts";

/** Returns the durations of the successes; the fastest first. */
export function successesMs(runs: readonly PastRun[] | undefined): number[] {
  const durations: number[] = [];
  if (runs === undefined) return durations;
  for (const run of runs) if (run.end === "succeeded") durations.push(run.durationMs);
  return ascending(durations);
}

/** For an even count the mean of the two in the middle, like Buildbarn; undefined for an empty list. */
export function medianOfSorted(sorted: readonly number[]): number | undefined {
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  const lower = sorted[middle - 1];
  if (upper === undefined || sorted.length % 2 === 1 || lower === undefined) return upper;
  return (lower + upper) / 2;
}

export function medianSuccessMs(runs: readonly PastRun[] | undefined): number | undefined {
  return medianOfSorted(successesMs(runs));
}
