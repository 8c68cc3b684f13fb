import type { EdgeCondition, RunCause, RunOutcome } from "#api/graph.ts";
import { isOver, type JobState } from "#api/job-state.ts";

/** What a job's state is computed from, and nothing else is. */
export interface JobProgress {
  readonly kind: "command" | "join";
  /** Why another run is wanted; null when none is. A job begins by wanting its first. */
  readonly wanted: RunCause | null;
  readonly latestRun: LatestRun | undefined;
  /** In-edges that are not decided yet. */
  readonly openEdges: number;
  /** In-edges that cannot be met as things are. */
  readonly failedEdges: number;
}

export type LatestRun =
  | { readonly state: "queued" | "running" }
  | { readonly state: "finished"; readonly outcome: RunOutcome };

/**
 * Where a job stands.
 *
 * A wanted run counts before the last one: that is what reopens a job, and what
 * hangs on it. A job that wants nothing and never ran was cancelled while it waited.
 */
export function jobState(job: JobProgress): JobState {
  if (job.latestRun !== undefined && job.latestRun.state !== "finished") return job.latestRun.state;
  if (job.wanted !== null) {
    if (job.failedEdges > 0) return "unreachable";
    if (job.openEdges > 0) return "blocked";
    return job.kind === "join" ? "succeeded" : "ready";
  }
  if (job.latestRun === undefined || job.latestRun.outcome === "cancelled") return "cancelled";
  return job.latestRun.outcome === "succeeded" ? "succeeded" : "failed";
}

export type EdgeStatus = "open" | "met" | "failed";

/**
 * Whether what an edge waits for has come about, given the state of the job that it waits for.
 *
 * `end` is met by every end, also by that of a job which could not run: a report
 * about a build must not be lost because the build's first step failed.
 */
export function edgeStatus(condition: EdgeCondition, on: JobState): EdgeStatus {
  if (!isOver(on)) return "open";
  switch (condition) {
    case "end":
      return "met";
    case "success":
      return on === "succeeded" ? "met" : "failed";
    case "failure":
      return on === "failed" ? "met" : "failed";
  }
}
