import type { FailureOfJob } from "#api/failure-of-job.ts";
import type { EndedIn } from "./failures.store.ts";

type Since = Pick<FailureOfJob, "lastPassed" | "firstFailed" | "graphsBetween">;

/**
 * Returns since when a job fails; undefined when it never ended.
 *
 * @param ends the graphs of the branch in which the job ended, the newest first; it failed in the first one
 */
export function sinceWhen(ends: readonly EndedIn[]): Since | undefined {
  const passedAt = ends.findIndex(({ state }) => state === "succeeded");
  const first = ends[(passedAt === -1 ? ends.length : passedAt) - 1];
  if (first === undefined) return undefined;
  const passed = ends[passedAt];
  return {
    lastPassed: passed === undefined ? null : neighbour(passed),
    firstFailed: neighbour(first),
    graphsBetween: passed === undefined ? 0 : passed.age - first.age - 1,
  };
}

function neighbour({ id, commit, subject, at }: EndedIn) {
  return { id, commit, subject, at };
}
