import type { PastRun } from "../past-run.ts";

/** Outcomes on a class as Bernoulli trials: fast enough or not. */
export interface Trials {
  readonly count: number;
  readonly successes: number;
}

/**
 * Compares outcomes with an acceptable time.
 *
 * A run that was stopped earlier contains no information, and is no trial: the original design stores the timeout of
 * timed-out runs only for this. Any shortage of the class is a failure, including memory.
 */
export function trialsWithin(runs: readonly PastRun[] | undefined, acceptableMs: number): Trials {
  let count = 0;
  let successes = 0;
  for (const run of runs ?? []) {
    if (run.end === "timed_out" && run.timeoutMs < acceptableMs) continue;
    count++;
    if (run.end === "succeeded" && run.durationMs <= acceptableMs) successes++;
  }
  return { count, successes };
}

/**
 * The seed uses the observed share directly. An untried class gets a probability, too; otherwise nothing would be
 * learned.
 */
export function successProbability({ count, successes }: Trials): number {
  return count === 0 ? 1 : successes / count;
}
