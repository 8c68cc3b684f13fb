import type { JobKind } from "#api/graph.ts";
import type { PlannedChange, PlannedJob } from "#api/rerun.ts";
import type { Tx } from "#db/db.ts";
import { expectedDurations } from "../times/expected-durations.store.ts";
import { expectationOf } from "./expectation.ts";
import type { PlannedGraph } from "./planned-graph.ts";

/** Adds to plans the facts that people need before they agree: the number of jobs, the time and the cost. */
export async function describeChange(
  tx: Tx,
  plans: readonly PlannedGraph[],
  pricePerWorkerMinute: number,
): Promise<Pick<PlannedChange, "jobs" | "totals" | "expected">> {
  const kinds = new Map<string, JobKind>();
  const jobs: PlannedJob[] = [];
  for (const { graph, jobs: planned } of plans) {
    const durations = await durationsOf(tx, graph.repository, planned);
    for (const { name, kind } of graph.jobs) kinds.set(`${graph.id} ${name}`, kind);
    for (const job of planned) jobs.push({ ...job, expectedMs: durations.get(job.job) ?? null });
  }
  const totals: Partial<Record<PlannedJob["does"], number>> = {};
  for (const { does } of jobs) totals[does] = (totals[does] ?? 0) + 1;
  const needsMachine = ({ graph, job }: PlannedJob) =>
    takesWorker(kinds.get(`${graph} ${job}`) ?? "command");
  return { jobs, totals, expected: expectationOf(jobs, needsMachine, pricePerWorkerMinute) };
}

async function durationsOf(
  tx: Tx,
  repository: string,
  jobs: PlannedGraph["jobs"],
): Promise<Map<string, number>> {
  const names = jobs.filter(({ cause }) => cause !== null).map(({ job }) => job);
  return names.length === 0 ? new Map() : expectedDurations(tx, repository, names);
}

function takesWorker(kind: JobKind): boolean {
  switch (kind) {
    case "command":
    case "graph":
      return true;
    case "join":
    case "breakpoint":
    case "timer":
    case "notify":
    case "dummy":
      return false;
  }
}
