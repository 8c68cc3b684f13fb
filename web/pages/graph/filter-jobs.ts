import type { JobSummary } from "#api/graph.ts";
import type { JobState } from "#api/job-state.ts";
import { byAttention } from "../../parts/state-words.ts";

export interface Filter {
  /** None: all states. */
  readonly states: ReadonlySet<JobState>;
  /** Words that must all occur in the name, a tag or the reason. */
  readonly text: string;
}

export function filterJobs(jobs: readonly JobSummary[], filter: Filter): JobSummary[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return jobs.filter((job) => {
    if (filter.states.size > 0 && !filter.states.has(job.state)) return false;
    if (words.length === 0) return true;
    const text = [job.name, job.reason ?? "", ...Object.values(job.tags)].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Failed and running first; within a state as the graph has them. */
export function sortByAttention(jobs: readonly JobSummary[]): JobSummary[] {
  return jobs.toSorted((a, b) => byAttention.indexOf(a.state) - byAttention.indexOf(b.state));
}
