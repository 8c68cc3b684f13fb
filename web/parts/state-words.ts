import type { GraphState, JobState } from "#api/job-state.ts";

/** A state as people say it. */
export const stateWords: Readonly<Record<JobState | GraphState, string>> = {
  blocked: "waiting",
  unreachable: "skipped",
  ready: "preparing",
  queued: "queued",
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
};

/** What wants attention first, and what has not begun last. */
export const byAttention: readonly JobState[] = [
  "failed",
  "running",
  "queued",
  "ready",
  "blocked",
  "cancelled",
  "unreachable",
  "succeeded",
];

/** From what is settled to what is still open: the order in which a bar of progress fills. */
export const byProgress: readonly JobState[] = [
  "succeeded",
  "failed",
  "cancelled",
  "unreachable",
  "running",
  "queued",
  "ready",
  "blocked",
];
