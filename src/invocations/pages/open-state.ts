import type { InvocationActionState } from "#api/invocation.ts";
import type { ExecutionStanding } from "#execution/execution-standing.store.ts";

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
      return standing.outcome === "succeeded" ? "succeeded" : "failed";
    case undefined:
      return "failed";
  }
}
