import type { RunCause } from "#api/graph.ts";
import type { RerunMode } from "#api/rerun.ts";
import type { SetAside } from "../advancing/job-progress.ts";
import { foresee, noIntent } from "./foresee.ts";
import {
  canRunAnew,
  edgesBy,
  type GraphSnapshot,
  type SnapshotJob,
  withDescendants,
} from "./graph-snapshot.ts";
import { type PlannedGraph, planGraph, type Role } from "./planned-graph.ts";

export interface RerunRequest {
  readonly mode: RerunMode;
  /** What is stale among the selected and what hangs on them, instead of the selected. */
  readonly onlyStale: boolean;
  readonly times: number;
  /** Whether jobs whose run is under way are to run again after it. */
  readonly another?: boolean;
  /** Selected jobs that do not run by themselves, with the reason. */
  readonly leftAlone?: ReadonlyMap<string, string> | undefined;
}

/**
 * What retriggering jobs of a graph comes to.
 *
 * A run is added to the same job. What was skipped because of it reopens by itself, which is
 * listed, or (`alone`) set aside; what had run already runs again only when `downstream` is
 * wanted. Jobs that are not over are left alone, so that two who ask at once get one run; with `another`, those
 * whose run is under way get further ones after it.
 */
export function planRerun(
  graph: GraphSnapshot,
  asked: ReadonlySet<string>,
  { mode, onlyStale, times, another = false, leftAlone = new Map() }: RerunRequest,
): PlannedGraph {
  const selected = new Set([...asked].filter((name) => !leftAlone.has(name)));
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
    asked: onlyStale ? new Set() : asked,
    leftAlone,
    times,
  });
}

/** Whether a further run can be asked for while one is under way: what waits for a person or a time ends by them. */
function canBeProlonged({ state, isEnding }: SnapshotJob): boolean {
  return (state === "queued" || state === "running") && isEnding !== true;
}

/** What never ran is begun, and may take its result from the cache; what ran is run again. */
function causeFor({ runs, setAside }: SnapshotJob): RunCause {
  return runs === 0 || setAside !== null ? "activate" : "retrigger";
}

/** What was not needed to know the results of jobs, and is to run them. It is executed where they are. */
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
  // A map grows while it is walked: a finder may have one of its own.
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
  const fates = foresee(graph, { ...noIntent, wants });
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

/** What nobody asked for yet stays so, however far a retrigger goes. */
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
  const before = foresee(graph, noIntent);
  const after = foresee(graph, { ...noIntent, wants });
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
