import type { EdgeCondition, JobKind } from "#api/graph.ts";
import { isOver, type JobState } from "#api/job-state.ts";
import type { EdgeStatus } from "../advancing/edge-status.ts";
import type { JobProgress } from "../advancing/job-progress.ts";
import type { GraphId } from "../graph-id.ts";

/** The part of a job that planning needs. */
export interface SnapshotJob extends Pick<JobProgress, "wanted" | "latestRun" | "setAside"> {
  readonly name: string;
  readonly kind: JobKind;
  readonly tags: Readonly<Record<string, string>>;
  readonly depth: number;
  readonly state: JobState;
  /** For display: why it cannot run, or was set aside. */
  readonly reason: string | null;
  readonly runs: number;
  readonly stale: boolean;
  /** Its run was cancelled, and continues until its worker receives the cancellation. */
  readonly isEnding?: boolean | undefined;
  /** For a graph job, the graph that its latest run made. */
  readonly childGraph?: GraphId | null | undefined;
  /** The graph's version at the job's last change. */
  readonly version: number;
}

export interface SnapshotEdge {
  readonly job: string;
  readonly on: string;
  readonly condition: EdgeCondition;
  readonly status: EdgeStatus;
  readonly waived: boolean;
}

/** A consistent snapshot of a graph, the input of plans. */
export interface GraphSnapshot {
  readonly id: GraphId;
  readonly repository: string;
  readonly branch: string;
  readonly version: number;
  /** Lower depth first: a job comes after the jobs that it waits for. */
  readonly jobs: readonly SnapshotJob[];
  readonly edges: readonly SnapshotEdge[];
}

/** Groups edges by the waiting job, or by its dependency. */
export function edgesBy<Edge extends Pick<SnapshotEdge, "job" | "on">>(
  end: "job" | "on",
  edges: readonly Edge[],
): Map<string, Edge[]> {
  const found = new Map<string, Edge[]>();
  for (const edge of edges) {
    const group = found.get(edge[end]) ?? [];
    found.set(edge[end], group);
    group.push(edge);
  }
  return found;
}

/** Returns jobs with all their direct and indirect dependents. */
export function withDescendants(
  { edges }: Pick<GraphSnapshot, "edges">,
  names: Iterable<string>,
): Set<string> {
  const waiting = edgesBy("on", edges);
  const found = new Set(names);
  // The loop also visits elements that are added to the set during iteration.
  for (const on of found) for (const { job } of waiting.get(on) ?? []) found.add(job);
  return found;
}

export function isUnderWay({ latestRun }: Pick<SnapshotJob, "latestRun">): boolean {
  return latestRun !== undefined && latestRun.state !== "finished";
}

/** A join never ends permanently: it runs again whenever one of its dependencies runs again. */
export function hasJoined({ kind, state }: Pick<SnapshotJob, "kind" | "state">): boolean {
  return kind === "join" && state === "succeeded";
}

/** Returns whether another run of a job can be requested: it has ended, and no run is requested. */
export function canRunAnew(job: SnapshotJob): boolean {
  return isOver(job.state) && job.wanted === null;
}
