import type { EdgeCondition, JobKind } from "#api/graph.ts";
import { isOver, type JobState } from "#api/job-state.ts";
import type { EdgeStatus } from "../advancing/edge-status.ts";
import type { JobProgress } from "../advancing/job-progress.ts";
import type { GraphId } from "../graph-id.ts";

/** A job as far as planning goes. */
export interface SnapshotJob extends Pick<JobProgress, "wanted" | "latestRun" | "setAside"> {
  readonly name: string;
  readonly kind: JobKind;
  readonly tags: Readonly<Record<string, string>>;
  readonly depth: number;
  readonly state: JobState;
  /** For people: why it cannot run, or was set aside. */
  readonly reason: string | null;
  readonly runs: number;
  readonly stale: boolean;
  /** Its run was cancelled, and continues until its worker knows. */
  readonly isEnding?: boolean | undefined;
  /** The graph that its latest run made, of a graph job. */
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

/** A graph at one moment, whole: what plans are made of. */
export interface GraphSnapshot {
  readonly id: GraphId;
  readonly repository: string;
  readonly branch: string;
  readonly version: number;
  /** Lower depth first: a job comes after the jobs that it waits for. */
  readonly jobs: readonly SnapshotJob[];
  readonly edges: readonly SnapshotEdge[];
}

/** Edges by the job that waits, or by the one that is waited for. */
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

/** Jobs, and all that hangs on them. */
export function withDescendants(
  { edges }: Pick<GraphSnapshot, "edges">,
  names: Iterable<string>,
): Set<string> {
  const waiting = edgesBy("on", edges);
  const found = new Set(names);
  // A set grows while it is walked: those that are added are followed, too.
  for (const on of found) for (const { job } of waiting.get(on) ?? []) found.add(job);
  return found;
}

export function isUnderWay({ latestRun }: Pick<SnapshotJob, "latestRun">): boolean {
  return latestRun !== undefined && latestRun.state !== "finished";
}

/** A join never ends for good: it joins again whenever a job that it gathers runs again. */
export function hasJoined({ kind, state }: Pick<SnapshotJob, "kind" | "state">): boolean {
  return kind === "join" && state === "succeeded";
}

/** Whether a job can be asked for another run: it is over, and wants none. */
export function canRunAnew(job: SnapshotJob): boolean {
  return isOver(job.state) && job.wanted === null;
}
