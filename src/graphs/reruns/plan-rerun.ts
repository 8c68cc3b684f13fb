import type { RunCause } from "#api/graph.ts";
import type { RerunMode } from "#api/rerun.ts";
import type { SetAside } from "../advancing/job-progress.ts";
import {
  canRunAnew,
  edgesBy,
  type GraphSnapshot,
  type SnapshotJob,
  withDescendants,
} from "./graph-snapshot.ts";
import { type PlannedGraph, planGraph, type Role } from "./planned-graph.ts";
import { noIntent, predictGraph } from "./predict-graph.ts";

export interface RerunRequest {
  readonly mode: RerunMode;
  /** Retriggers only the stale jobs among the selected ones and those that depend on them. */
  readonly onlyStale: boolean;
  readonly times: number;
  /** Whether running jobs must run again afterwards. */
  readonly another?: boolean;
  /** Selected jobs that do not run by themselves, with the reason. */
  readonly leftAlone?: ReadonlyMap<string, string> | undefined;
}

/**
 * Plans a retrigger of jobs.
 *
 * Each job gets a further run. Jobs that were skipped because of it open again and are listed, or are set aside
 * (`alone`); jobs that ran already run again only with `downstream`. Unfinished jobs are left alone, so that two
 * requests at once give one run; with `another`, running jobs get further runs afterwards.
 */
export function planRerun(
  graph: GraphSnapshot,
  requested: ReadonlySet<string>,
  { mode, onlyStale, times, another = false, leftAlone = new Map() }: RerunRequest,
): PlannedGraph {
  const selected = new Set([...requested].filter((name) => !leftAlone.has(name)));
  const wants = new Map<string, RunCause>();
  const roles = new Map<string, Role>();
  if (!onlyStale) {
    for (const job of graph.jobs.filter(({ name }) => selected.has(name)).filter(canRunAnew)) {
      wants.set(job.name, causeFor(job));
      roles.set(job.name, "runs");
    }
  }
  if (mode === "downstream" || onlyStale) {
    for (const { name } of downstreamOf(graph, selected, wants, onlyStale)) {
      wants.set(name, "downstream");
      roles.set(name, "runs because downstream");
    }
  }
  for (const [name, cause] of findersNeeded(graph, wants)) {
    wants.set(name, cause);
    roles.set(name, "runs because needed");
  }
  const prolongs = new Set(
    graph.jobs
      .filter((job) => another && !onlyStale && selected.has(job.name) && canBeProlonged(job))
      .map(({ name }) => name),
  );
  const intent = { ...noIntent, wants, prolongs };
  const setsAside =
    mode === "alone" && !onlyStale ? revivedButNotRequested(graph, wants, selected) : new Map();
  return planGraph(graph, {
    intent: { ...intent, setsAside },
    roles,
    asked: onlyStale ? new Set() : requested,
    leftAlone,
    times,
  });
}

/**
 * Returns whether a further run can be requested while one is in progress: not for a job that waits for a person or a
 * time.
 */
function canBeProlonged({ state, isEnding }: SnapshotJob): boolean {
  return (state === "queued" || state === "running") && isEnding !== true;
}

/**
 * Returns the cause of a run: a job that never ran begins, and may use a cached result; a job that ran is executed
 * again.
 */
function causeFor({ runs, setAside }: SnapshotJob): RunCause {
  return runs === 0 || setAside !== null ? "activate" : "retrigger";
}

/** Returns finders that were not needed because results were known, and that are needed to run these jobs. */
function findersNeeded(
  graph: GraphSnapshot,
  wants: ReadonlyMap<string, RunCause>,
): Map<string, RunCause> {
  const unneeded = new Set(
    graph.jobs.filter(({ setAside }) => setAside === "unneeded").map(({ name }) => name),
  );
  const found = new Map(wants);
  if (unneeded.size === 0) return new Map();
  const into = edgesBy("job", graph.edges);
  // The loop also visits entries that are added during iteration: a finder may have its own finder.
  for (const [name, cause] of found) {
    for (const { on } of into.get(name) ?? []) {
      if (unneeded.has(on) && !found.has(on)) found.set(on, cause);
    }
  }
  return new Map([...found].filter(([name]) => !wants.has(name)));
}

function downstreamOf(
  graph: GraphSnapshot,
  selected: ReadonlySet<string>,
  wants: ReadonlyMap<string, RunCause>,
  onlyStale: boolean,
): SnapshotJob[] {
  const fates = predictGraph(graph, { ...noIntent, wants });
  const begun = [...selected].filter((name) => fates.get(name)?.kind !== "refused");
  const reached = withDescendants(graph, begun);
  return graph.jobs.filter(
    (job) =>
      reached.has(job.name) &&
      !wants.has(job.name) &&
      (onlyStale ? job.stale : hasEnded(job)) &&
      canRunAnew(job),
  );
}

/** A retrigger does not run jobs that were never requested, regardless of its extent. */
function hasEnded({ state }: SnapshotJob): boolean {
  return (
    state === "succeeded" || state === "failed" || state === "cancelled" || state === "expired"
  );
}

function revivedButNotRequested(
  graph: GraphSnapshot,
  wants: ReadonlyMap<string, RunCause>,
  selected: ReadonlySet<string>,
): Map<string, SetAside> {
  const before = predictGraph(graph, noIntent);
  const after = predictGraph(graph, { ...noIntent, wants });
  return new Map(
    graph.jobs
      .filter(
        ({ name, state }) =>
          state === "unreachable" &&
          !selected.has(name) &&
          before.get(name)?.kind === "cannot" &&
          after.get(name)?.kind === "runs",
      )
      .map(({ name }) => [name, "inactive"]),
  );
}
