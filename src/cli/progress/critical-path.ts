import type { Edge, JobSummary } from "#api/graph.ts";

export interface Step {
  readonly job: string;
  /** From when nothing held it back any more until it ended, ms. */
  readonly ms: number;
}

/**
 * The chain of jobs that the graph's end had to wait for, first to last.
 *
 * Walks back from the job that ended last: what held a job back is the dependency
 * that ended last. The steps add up to the graph's length, but for what the farm
 * itself needed before the first job.
 */
export function criticalPath(
  jobs: ReadonlyMap<string, JobSummary>,
  edges: readonly Edge[],
): Step[] {
  const heldBackBy = new Map<string, string[]>();
  for (const { job, on } of edges) {
    heldBackBy.set(job, [...(heldBackBy.get(job) ?? []), on]);
  }
  const steps: Step[] = [];
  let last = latestOf(jobs.keys(), jobs);
  while (last !== undefined) {
    const before = latestOf(heldBackBy.get(last.name) ?? [], jobs);
    steps.unshift({ job: last.name, ms: Math.max(0, last.end - (before?.end ?? last.begin)) });
    // A graph has no cycles; a wrong answer from elsewhere must not hold us here for ever.
    if (steps.length > jobs.size) return [];
    last = before;
  }
  return steps;
}

interface Ended {
  readonly name: string;
  readonly begin: number;
  readonly end: number;
}

function latestOf(
  names: Iterable<string>,
  jobs: ReadonlyMap<string, JobSummary>,
): Ended | undefined {
  let latest: Ended | undefined;
  for (const name of names) {
    const job = jobs.get(name);
    if (job?.finishedAt === null || job?.finishedAt === undefined) continue;
    const end = Date.parse(job.finishedAt);
    const begin = Date.parse(job.readyAt ?? job.startedAt ?? job.finishedAt);
    if (latest === undefined || end > latest.end) latest = { name, begin, end };
  }
  return latest;
}
