import type { GraphView } from "./graph-view.ts";

export interface Totals {
  readonly jobs: number;
  /** Runs that a worker executed. */
  readonly executed: number;
  /** Jobs whose result was there already. */
  readonly hits: number;
  readonly failed: number;
}

export function totalsOf({ jobs }: GraphView): Totals {
  const all = [...jobs.values()];
  const hits = all.filter((job) => job.cached).length;
  const runs = all.reduce((sum, job) => sum + job.runs, 0);
  return {
    jobs: all.length,
    // A hit is a run too, but none that was executed.
    executed: runs - hits,
    hits,
    failed: all.filter((job) => job.state === "failed").length,
  };
}

export function totalsText({ jobs, executed, hits, failed }: Totals): string {
  const parts = [
    `${jobs} ${jobs === 1 ? "job" : "jobs"}`,
    `${executed} executed`,
    `${hits} from the cache`,
  ];
  return [...parts, ...(failed > 0 ? [`${failed} failed`] : [])].join(", ");
}
