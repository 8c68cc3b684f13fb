import { type GraphState, isOver, type JobState, jobStates } from "#api/job-state.ts";

/** How many jobs of a graph are in each state; none where a state is not named. */
type JobCounts = Readonly<Partial<Record<JobState, number>>>;

/**
 * Returns the state of a graph. It is finished when all its jobs are.
 *
 * An unreachable job alone does not fail a graph: either the job that made it unreachable failed, or it was meant for a
 * failure that did not happen.
 */
export function graphState(counts: JobCounts, cancelRequested: boolean): GraphState {
  if (jobStates.some((state) => !isOver(state) && (counts[state] ?? 0) > 0)) return "running";
  const bad = (counts.failed ?? 0) + (counts.cancelled ?? 0);
  if (bad === 0) return "succeeded";
  return cancelRequested ? "cancelled" : "failed";
}

/** The counts after some jobs went from one state to another. */
export function countsAfter(
  counts: JobCounts,
  moves: readonly { readonly was: JobState; readonly state: JobState }[],
): JobCounts {
  const next: Partial<Record<JobState, number>> = { ...counts };
  for (const { was, state } of moves) {
    next[was] = (next[was] ?? 0) - 1;
    next[state] = (next[state] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(next).filter(([, number]) => number !== 0));
}
