import type { JobSummary } from "#api/graph.ts";
import { groupBy } from "../../parts/group-by.ts";

export interface JobGroup {
  readonly name: string;
  readonly jobs: readonly JobSummary[];
}

/** Groups jobs by the first part of their names; groups with a failure first, then in the graph's order. */
export function groupJobs(jobs: readonly JobSummary[]): JobGroup[] {
  const groups = groupBy(jobs, (job) => groupName(job.name));
  return [...groups]
    .map(([name, members]) => ({ name, jobs: members }))
    .toSorted((a, b) => Number(hasFailed(b)) - Number(hasFailed(a)));
}

const hasFailed = (group: JobGroup) => group.jobs.some((job) => job.state === "failed");

/** `unit/linux/3` and `unit/linux/4` are `unit/linux`; `shard-12` is `shard`; a single job has no group. */
export function groupName(job: string): string {
  const slash = job.lastIndexOf("/");
  if (slash > 0) return job.slice(0, slash);
  return /^(.+?)[-_.: ]?\d+$/.exec(job)?.[1] ?? "";
}
