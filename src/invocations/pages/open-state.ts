import type { InvocationActionState } from "#api/invocation.ts";
import type { Outcome } from "#execution/execution.ts";
import type { ExecutionStanding } from "#execution/execution-standing.store.ts";

/** What became of an action, in few words; of one that has ended without any, nothing. */
export function stateOfOutcome(outcome: Outcome | null): "succeeded" | "failed" | "cancelled" {
  return outcome === "succeeded" || outcome === "cancelled" ? outcome : "failed";
}

/**
 * How an operation without an outcome of its own stands, by its execution.
 *
 * One that was written while its execution ended has missed the news, and one whose execution is gone
 * can get none any more: nothing will come of it.
 */
export function openState(
  standing: Pick<ExecutionStanding, "state" | "outcome"> | undefined,
): Exclude<InvocationActionState, "hit"> {
  switch (standing?.state) {
    case "queued":
      return "queued";
    case "leased":
      return "executing";
    case "finished":
      return stateOfOutcome(standing.outcome);
    case undefined:
      return "failed";
  }
}
