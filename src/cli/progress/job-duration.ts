import type { JobSummary } from "#api/graph.ts";

/** Returns how long a job has been running or ran, in ms; undefined when it did not start. */
export function jobDurationMs(job: JobSummary, now: Date): number | undefined {
  if (job.startedAt === null || job.cached) return undefined;
  const end = job.finishedAt === null ? now.getTime() : Date.parse(job.finishedAt);
  return Math.max(0, end - Date.parse(job.startedAt));
}
