import type { Edge, JobSummary } from "#api/graph.ts";
import { groupBy } from "../../parts/group-by.ts";

/**
 * The chain of jobs that the graph waited for, or is waiting for, last job first.
 *
 * Begins at the job that ended last (one that runs has not ended: it counts as
 * last of all), and goes back each time to the dependency that ended last.
 * Shortening any other job would not have ended the graph sooner.
 */
export function criticalPath(jobs: readonly JobSummary[], edges: readonly Edge[]): string[] {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const dependencies = groupBy(edges, (edge) => edge.job);
  const path: string[] = [];
  const seen = new Set<string>();
  let at = latest(jobs);
  while (at !== undefined && !seen.has(at.name)) {
    seen.add(at.name);
    path.push(at.name);
    at = latest((dependencies.get(at.name) ?? []).flatMap((edge) => byName.get(edge.on) ?? []));
  }
  return path;
}

function latest(jobs: readonly JobSummary[]): JobSummary | undefined {
  let found: JobSummary | undefined;
  let foundEnd = 0;
  for (const job of jobs) {
    const end = endOf(job);
    if (end === undefined || end <= foundEnd) continue;
    found = job;
    foundEnd = end;
  }
  return found;
}

/** Among those that run, the one that began first has kept us longest. */
function endOf(job: JobSummary): number | undefined {
  if (job.state === "running" && job.startedAt !== null) {
    return Number.MAX_SAFE_INTEGER - Date.parse(job.startedAt);
  }
  const ran = job.state === "succeeded" || job.state === "failed";
  return ran && job.finishedAt !== null ? Date.parse(job.finishedAt) : undefined;
}
