import type { JobState } from "./job-state.ts";

/** States that need attention first, and those that have not started last. */
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
