import type { GraphState, JobState } from "#api/job-state.ts";

/** The names of states for people. */
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

/** From final to open states: the order in which a progress bar fills. */
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
