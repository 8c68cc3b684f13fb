import type { InvocationActionState } from "#api/invocation.ts";
import type { Outcome } from "#execution/execution.ts";
import type { ExecutionStanding } from "#execution/execution-standing.store.ts";

/** Returns the state of an action with an outcome, in a few words. */
export function stateOfOutcome(outcome: Outcome | null): "succeeded" | "failed" | "cancelled" {
  return outcome === "succeeded" || outcome === "cancelled" ? outcome : "failed";
}

/**
 * Returns the state of an operation without an outcome, by its execution.
 *
 * An operation that was stored while its execution ended has missed the end, and one whose execution was deleted cannot
 * get one.
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
