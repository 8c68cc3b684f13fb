import type { JobSummary } from "#api/graph.ts";
import type { GraphView } from "./graph-view.ts";

interface Totals {
  readonly jobs: number;
  /** Runs that a worker executed. */
  readonly executed: number;
  /** Jobs with a cached result. */
  readonly hits: number;
  readonly failed: number;
}

export function totalsOf({ jobs }: GraphView): Totals {
  const all = [...jobs.values()];
  const hits = all.filter((job) => job.cached).length;
  return {
    jobs: all.length,
    executed: all.reduce((sum, job) => sum + executedRuns(job), 0),
    hits,
    failed: all.filter((job) => job.state === "failed").length,
  };
}

/** A hit is a run, too, but not one that a worker executed; the same applies to a run that waits or never started. */
function executedRuns({ runs, cached, startedAt }: JobSummary): number {
  const latestIsExecuted = !cached && startedAt !== null;
  return latestIsExecuted ? runs : Math.max(0, runs - 1);
}

export function totalsText({ jobs, executed, hits, failed }: Totals): string {
  const parts = [
    `${jobs} ${jobs === 1 ? "job" : "jobs"}`,
    `${executed} executed`,
    `${hits} from the cache`,
  ];
  return [...parts, ...(failed > 0 ? [`${failed} failed`] : [])].join(", ");
}
