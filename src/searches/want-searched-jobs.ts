import type { Principal } from "#access/principal.ts";
import type { RunCause } from "#api/graph.ts";
import { changeGraphs } from "#graphs/reruns/change-graphs.ts";
import type { GraphSnapshot } from "#graphs/reruns/graph-snapshot.ts";
import { planActivation } from "#graphs/reruns/plan-activation.ts";
import { planRerun } from "#graphs/reruns/plan-rerun.ts";
import type { PlannedGraph } from "#graphs/reruns/planned-graph.ts";
import type { JudgedGraph, RangeServices } from "./ask-commit.ts";
import type { SearchToStep } from "./search.store.ts";

/**
 * Requests the runs that a graph's jobs still need for a verdict about their commit. False when none of them can run.
 *
 * Jobs that were not requested are activated together with the jobs that they need; a job that must run more often is
 * retriggered alone. Lost and skipped jobs get one more attempt.
 */
export async function wantSearchedJobs(
  services: RangeServices,
  search: SearchToStep,
  { graphId, jobs, verdict }: JudgedGraph,
  by: Principal,
): Promise<boolean> {
  const all = new Set(jobs.map(({ name }) => name));
  const isAsleep = verdict.kind === "asleep";
  const change = await changeGraphs(services, {
    graphId,
    wholeSet: false,
    verb: isAsleep ? "activate" : "retrigger",
    by,
    dryRun: false,
    detail: { search: search.id, selection: search.selection },
    plan: (graphs) =>
      graphs.map((graph) =>
        causedBy(search.kind, plannedFor(graph, verdict, all, search.sameResults)),
      ),
    whyOf: () => `${search.kind} of ${search.selection} by ${by.name}`,
  });
  return change !== undefined && change.jobs.some(({ cause }) => cause !== null);
}

function plannedFor(
  graph: GraphSnapshot,
  verdict: JudgedGraph["verdict"],
  all: ReadonlySet<string>,
  sameResults: number,
): PlannedGraph {
  switch (verdict.kind) {
    case "asleep":
      return planActivation(graph, new Set(verdict.jobs), false);
    case "unsure": {
      const times = Math.max(...verdict.jobs.values());
      const selected = new Set(verdict.jobs.keys());
      return planRerun(graph, selected, { mode: "alone", onlyStale: false, times });
    }
    case "untestable":
      return planRerun(graph, all, { mode: "alone", onlyStale: false, times: sameResults });
    case "good":
    case "bad":
    case "under way":
    case "absent":
      return planRerun(graph, new Set(), { mode: "alone", onlyStale: false, times: 1 });
  }
}

/**
 * Returns the same plan, with runs marked as different from a person's requests; a run that is repeated is never taken
 * from the cache.
 */
function causedBy(cause: RunCause, planned: PlannedGraph): PlannedGraph {
  const wants = new Map(
    [...planned.intent.wants].map(([job, was]): [string, RunCause] => [
      job,
      was === "retrigger" ? was : cause,
    ]),
  );
  return { ...planned, intent: { ...planned.intent, wants } };
}
