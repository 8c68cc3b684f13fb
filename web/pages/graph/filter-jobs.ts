import type { JobSummary } from "#api/graph.ts";
import type { JobState } from "#api/job-state.ts";
import { byAttention } from "#api/job-state-order.ts";
import { isWanted, type JobFilter } from "./job-filter.ts";

interface Filter {
  /** None: all states. */
  readonly states: ReadonlySet<JobState>;
  readonly wanted: JobFilter;
}

export function filterJobs(jobs: readonly JobSummary[], filter: Filter): JobSummary[] {
  return jobs.filter(
    (job) =>
      (filter.states.size === 0 || filter.states.has(job.state)) && isWanted(filter.wanted, job),
  );
}

/** Orders failed and running jobs first; within a state in the graph's order. */
export function sortByAttention(jobs: readonly JobSummary[]): JobSummary[] {
  return jobs.toSorted((a, b) => byAttention.indexOf(a.state) - byAttention.indexOf(b.state));
}
