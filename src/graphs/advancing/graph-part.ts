import type { JobState } from "#api/job-state.ts";
import type { PlannedEdge } from "../plan.ts";
import type { EdgeStatus } from "./edge-status.ts";
import type { JobProgress } from "./job-progress.ts";

export interface AdvancingJob extends JobProgress {
  readonly name: string;
  /** The longest way to it from a job that waits for nothing: edges go from lower to higher. */
  readonly depth: number;
  /** The stored state; it differs from `jobState` exactly when something has just happened to the job. */
  readonly state: JobState;
  /** For people: why it cannot run, or was set aside. */
  readonly reason: string | null;
  /** How many runs it had. */
  readonly runs: number;
  /** The result of its newest finished run (`yieldOf`). */
  readonly yield: string;
  /** In-edges over which it took a result that its source no longer gives. */
  readonly staleEdges: number;
  readonly stale: boolean;
}

export interface AdvancingEdge extends PlannedEdge {
  readonly status: EdgeStatus;
  readonly waived: boolean;
  /** The yield that the waiting job's latest run used; null before it has run. */
  readonly taken: string | null;
  readonly stale: boolean;
}

/** A part of a graph. */
export interface GraphPart {
  readonly jobs: readonly AdvancingJob[];
  readonly edges: readonly AdvancingEdge[];
}
