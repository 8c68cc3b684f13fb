import type { z } from "zod";
import type { BenchmarkJobState, JobPurpose } from "#api/benchmark-request.ts";

export interface JobSoFar {
  readonly purpose: z.infer<typeof JobPurpose>;
  readonly state: BenchmarkJobState;
  readonly optional: boolean;
  readonly artifactId: number;
}

/** The next step of a request in progress. `confirm-doubtful`: everything is measured; an independent rerun is started
 * if verdicts need one, and otherwise the request ends.
 */
type RequestConsequence = "wait" | "confirm-doubtful" | "ended" | "ended-without-results";

/** No request waits for optional jobs, and their failures do not matter. */
export function requestConsequence(
  artifactId: number,
  jobs: readonly JobSoFar[],
): RequestConsequence {
  const needed = jobs.filter(({ optional }) => !optional);
  if (needed.some(({ state }) => state === "queued" || state === "in-progress")) return "wait";
  const isOwn = (job: JobSoFar) =>
    job.artifactId === artifactId && (job.purpose === "own" || job.purpose === "backfill");
  const own = needed.filter(isOwn);
  // Without any such job, its suite has changed while it waited, and measures none of these cases any more.
  const isAny = own.length > 0 || !jobs.some(isOwn);
  if (isAny && own.every(({ state }) => state !== "success")) {
    return "ended-without-results";
  }
  return jobs.some(({ purpose }) => purpose === "confirm") ? "ended" : "confirm-doubtful";
}
