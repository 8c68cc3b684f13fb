import type { JobState } from "#api/job-state.ts";
import type { CommitStanding } from "#api/search.ts";

/** How a commit stands, as people say it. */
export const standingWords: Readonly<Record<CommitStanding, string>> = {
  unknown: "not asked",
  asked: "under way",
  good: "good",
  bad: "bad",
  skipped: "cannot be told",
};

/** The state whose shape shows the standing. */
export const shapeOfStanding: Readonly<Record<CommitStanding, JobState>> = {
  unknown: "inactive",
  asked: "running",
  good: "succeeded",
  bad: "failed",
  skipped: "unreachable",
};
