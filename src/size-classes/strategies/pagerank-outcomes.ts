import type { PastRun } from "../past-run.ts";
import type { SizeClassSettings } from "../settings.ts";
import { acceptableIncrease } from "./acceptable-time.ts";
import { ascending } from "./ascending.ts";

/** The results of a class, in times that are comparable between classes. */
export interface Outcomes {
  /** The times that they would have taken on the largest class; in ascending order. */
  readonly successesMs: readonly number[];
  /** Includes runs that succeeded, but too slowly. */
  readonly failures: number;
}

/** The limits of a smaller class. */
export interface Limits {
  readonly increase: number;
  readonly acceptableMs: number;
  readonly timeoutMs: number;
}

export function limitsOf(
  smaller: number,
  largest: number,
  medianOnLargestMs: number,
  requestedTimeoutMs: number,
  settings: SizeClassSettings,
): Limits {
  const increase = acceptableIncrease(largest, smaller, settings.acceptableIncreaseExponent);
  const acceptable = medianOnLargestMs * increase;
  const timeoutMs = Math.min(
    Math.max(acceptable * settings.timeoutMultiplier, settings.minimumAcceptableMs),
    requestedTimeoutMs,
  );
  // Keeps a distance to the timeout: a short requested timeout reduces the acceptable time.
  const acceptableMs = Math.min(acceptable, timeoutMs / settings.timeoutMultiplier);
  return { increase, acceptableMs, timeoutMs };
}

/** Returns outcomes on a smaller class. A run that was stopped before the acceptable time does not count. */
export function normalised(
  runs: readonly PastRun[] | undefined,
  { increase, acceptableMs }: Limits,
): Outcomes {
  const successesMs: number[] = [];
  let failures = 0;
  for (const run of runs ?? []) {
    if (run.end === "succeeded" && run.durationMs < acceptableMs) {
      successesMs.push(run.durationMs / increase);
    } else if (run.end !== "timed_out" || run.timeoutMs >= acceptableMs) {
      failures++;
    }
  }
  return { successesMs: ascending(successesMs), failures };
}
