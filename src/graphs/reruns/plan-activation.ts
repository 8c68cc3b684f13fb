import type { RunCause } from "#api/graph.ts";
import {
  canRunAnew,
  edgesBy,
  type GraphSnapshot,
  type SnapshotJob,
  withDescendants,
} from "./graph-snapshot.ts";
import { type PlannedGraph, planGraph, type Role } from "./planned-graph.ts";
import { noIntent } from "./predict-graph.ts";

/**
 * Plans the activation of jobs: they run, with all inactive jobs that they need.
 *
 * With `downstream`, also all inactive jobs that depend on them.
 */
export function planActivation(
  graph: GraphSnapshot,
  selected: ReadonlySet<string>,
  downstream: boolean,
): PlannedGraph {
  const byName = new Map(graph.jobs.map((job) => [job.name, job]));
  const roles = new Map<string, Role>();
  for (const job of graph.jobs) {
    if (selected.has(job.name) && isDormant(job)) roles.set(job.name, "runs");
  }
  if (downstream) {
    for (const name of withDescendants(graph, selected)) {
      const job = byName.get(name);
      if (job?.setAside === "inactive" && !roles.has(name))
        roles.set(name, "runs because downstream");
    }
  }
  for (const name of neededBy(graph, byName, [...roles.keys()])) {
    if (!roles.has(name)) roles.set(name, "runs because needed");
  }
  const wants = new Map([...roles.keys()].map((name): [string, RunCause] => [name, "activate"]));
  return planGraph(graph, { intent: { ...noIntent, wants }, roles, asked: selected, times: 1 });
}

/** Returns whether a runnable job has not run: it was not requested, or it was cancelled or skipped while it waited. */
function isDormant(job: SnapshotJob): boolean {
  return canRunAnew(job) && (job.setAside !== null || job.runs === 0);
}

/** Returns jobs without a run that block others, directly or indirectly, including through skipped jobs. */
function neededBy(
  graph: GraphSnapshot,
  byName: ReadonlyMap<string, SnapshotJob>,
  names: readonly string[],
): Set<string> {
  const into = edgesBy("job", graph.edges);
  const walked = new Set(names);
  const needed = new Set<string>();
  for (const name of walked) {
    for (const { on, condition, waived } of into.get(name) ?? []) {
      const job = byName.get(on);
      // An edge that waits for any end treats an inactive job as ended.
      if (job === undefined || waived || condition === "end") continue;
      const isAside =
        job.setAside === "inactive" || job.setAside === "coalesced" || job.setAside === "unneeded";
      if (isAside) needed.add(on);
      if (isAside || job.state === "unreachable") walked.add(on);
    }
  }
  return needed;
}

/** Plans to set jobs inactive. Only jobs that have not started can be. */
export function planDeactivation(
  graph: GraphSnapshot,
  selected: ReadonlySet<string>,
): PlannedGraph {
  const setsAside = new Map(
    graph.jobs
      .filter((job) => selected.has(job.name) && isWaitingForItsFirstRun(job))
      .map(({ name }) => [name, "inactive" as const]),
  );
  return planGraph(graph, {
    intent: { ...noIntent, setsAside },
    roles: new Map(),
    asked: selected,
    times: 1,
  });
}

function isWaitingForItsFirstRun({ runs, wanted, state }: SnapshotJob): boolean {
  return (
    runs === 0 &&
    wanted !== null &&
    (state === "blocked" || state === "unreachable" || state === "ready")
  );
}
