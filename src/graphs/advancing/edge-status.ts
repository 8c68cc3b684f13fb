import type { EdgeCondition } from "#api/graph.ts";
import { isOver, type JobState } from "#api/job-state.ts";
import type { JobProgress } from "./job-progress.ts";

export type EdgeStatus = "open" | "met" | "failed";

/** The job at an edge's far end, as far as the edge asks about it. */
type AwaitedJob = Pick<JobProgress, "latestRun" | "setAside"> & { readonly state: JobState };

/**
 * Returns whether the condition of an edge is met, given the job that it waits for.
 *
 * A waived edge waits for nothing. `end` is met by every end, also by that of a job which could not run: a report about
 * a build must not be lost because the build's first step failed. `success` also accepts an expiry that the definition
 * calls good, and a job that is no longer needed.
 */
export function edgeStatus(
  edge: { readonly condition: EdgeCondition; readonly waived: boolean },
  on: AwaitedJob,
): EdgeStatus {
  if (edge.waived) return "met";
  if (!isOver(on.state)) return "open";
  switch (edge.condition) {
    case "end":
      return "met";
    case "success":
      return on.state === "succeeded" || isDoneWithout(on) ? "met" : "failed";
    case "failure":
      return on.state === "failed" ? "met" : "failed";
    default:
      return endedAs(on, edge.condition.slice("outcome:".length)) ? "met" : "failed";
  }
}

function isDoneWithout({ setAside }: AwaitedJob): boolean {
  return setAside === "expired-good" || setAside === "unneeded";
}

/** Whether a job's latest run ended with an outcome, or in a class of failures, of this name. */
function endedAs({ latestRun, setAside }: AwaitedJob, name: string): boolean {
  if (setAside !== null || latestRun?.state !== "finished") return false;
  return latestRun.outcome === name || latestRun.failureClass === name;
}
