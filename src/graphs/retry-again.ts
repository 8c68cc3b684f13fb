import type { RunOutcome } from "#api/graph.ts";

/**
 * Whether a run that ended so is followed by another one, by itself.
 *
 * Only automatic retries use the budget: runs that people asked for are not
 * counted. What a person cancelled stays cancelled.
 */
export function retriesAgain(outcome: RunOutcome, used: number, budget: number): boolean {
  switch (outcome) {
    case "succeeded":
    case "cancelled":
      return false;
    case "failed":
    case "timed_out":
    case "out_of_memory":
    case "worker_lost":
    case "infrastructure_error":
      return used < budget;
  }
}
