import type { JobState } from "#api/job-state.ts";
import type { CommitStanding } from "#api/search.ts";

/** The states of a commit, in words. */
export const standingWords: Readonly<Record<CommitStanding, string>> = {
  unknown: "not asked",
  asked: "under way",
  good: "good",
  bad: "bad",
  skipped: "undecidable",
};

/** The job state whose shape is used. */
export const shapeOfStanding: Readonly<Record<CommitStanding, JobState>> = {
  unknown: "inactive",
  asked: "running",
  good: "succeeded",
  bad: "failed",
  skipped: "unreachable",
};
