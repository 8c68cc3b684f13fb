import type { ExecutionView } from "../read-executions.store.ts";
import type { FinishedExecution } from "./finished-execution.ts";

/** Returns the view of the finished execution that readers will see. */
export function endedView(finished: FinishedExecution, cancelRequested: boolean): ExecutionView {
  const { id, project, actionDigest, attempt, queuedAt, finishedAt, outcome } = finished;
  const state = { kind: "finished" as const, finishedAt, outcome };
  const cancelConfirmed = cancelRequested;
  return {
    id,
    project,
    actionDigest,
    attempt,
    cancelRequested,
    cancelConfirmed,
    queuedAt,
    state,
    finished,
  };
}
