import type { JobKind, RunCause, RunOutcome } from "#api/graph.ts";
import type { JobState } from "#api/job-state.ts";

/** The facts from which the state of a job is computed. */
export interface JobProgress {
  readonly kind: JobKind;
  /** Why another run is requested; null when none is requested. A job begins by wanting its first, or inactive. */
  readonly wanted: RunCause | null;
  readonly latestRun: LatestRun | undefined;
  readonly setAside: SetAside | null;
  /** In-edges that are not decided yet. */
  readonly openEdges: number;
  /** In-edges that cannot be met as things are. */
  readonly failedEdges: number;
}

type LatestRun =
  | { readonly state: "queued" | "waiting" | "running" }
  | {
      readonly state: "finished";
      readonly outcome: RunOutcome;
      /** The class of failures that the job's own rules put it into. */
      readonly failureClass: string | null;
    };

/**
 * Why a job needs no run although no run ended it.
 *
 * `unneeded`: it would have found the inputs of jobs whose results were already known without them. A job that waited
 * too long counts as its definition states: as failed, as skipped while jobs that need it continue (`good`), or as
 * skipped together with them (`bad`).
 */
export const setAsides = [
  "inactive",
  "coalesced",
  "unneeded",
  "expired-failed",
  "expired-good",
  "expired-bad",
] as const;
export type SetAside = (typeof setAsides)[number];

/**
 * Returns the state of a job.
 *
 * A wanted run counts before the last run: this reopens a job, and the jobs that depend on it. A job that wants nothing
 * and never ran was cancelled while it waited. A join always wants: it is open whenever one of the jobs that it gathers
 * is.
 */
export function jobState(job: JobProgress): JobState {
  if (job.latestRun !== undefined && job.latestRun.state !== "finished") return job.latestRun.state;
  if (job.wanted !== null) {
    if (job.failedEdges > 0) return "unreachable";
    if (job.openEdges > 0) return "blocked";
    return job.kind === "join" ? "succeeded" : "ready";
  }
  if (job.setAside !== null) return stateAside(job.setAside);
  if (job.latestRun === undefined || job.latestRun.outcome === "cancelled") return "cancelled";
  return job.latestRun.outcome === "succeeded" ? "succeeded" : "failed";
}

function stateAside(aside: SetAside): JobState {
  switch (aside) {
    case "inactive":
    case "coalesced":
      return aside;
    case "unneeded":
      return "inactive";
    case "expired-failed":
      return "failed";
    case "expired-good":
    case "expired-bad":
      return "expired";
  }
}
