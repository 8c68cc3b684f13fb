import type { GraphState, JobState } from "#api/job-state.ts";

/** A state as people say it. */
export const stateWords: Readonly<Record<JobState | GraphState, string>> = {
  inactive: "inactive",
  blocked: "waiting",
  unreachable: "skipped",
  waiting: "held",
  ready: "preparing",
  queued: "queued",
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
  expired: "expired",
  coalesced: "coalesced",
};

/** What wants attention first, and what has not begun last. */
export const byAttention: readonly JobState[] = [
  "failed",
  "waiting",
  "running",
  "queued",
  "ready",
  "blocked",
  "cancelled",
  "expired",
  "unreachable",
  "coalesced",
  "succeeded",
  "inactive",
];

/** From what is settled to what is still open: the order in which a bar of progress fills. */
export const byProgress: readonly JobState[] = [
  "succeeded",
  "failed",
  "cancelled",
  "expired",
  "unreachable",
  "coalesced",
  "running",
  "waiting",
  "queued",
  "ready",
  "blocked",
  "inactive",
];
