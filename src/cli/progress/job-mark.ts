import type { JobSummary } from "#api/graph.ts";
import type { JobState } from "#api/job-state.ts";
import type { Paint } from "../terminal/paint.ts";

/** A sign and a word for each state: colour alone tells some people nothing. */
const marks: Record<JobState, readonly [sign: string, word: string, colour: keyof Paint]> = {
  inactive: ["·", "inactive", "dim"],
  blocked: ["·", "waits", "dim"],
  unreachable: ["-", "skipped", "dim"],
  waiting: ["⏸", "held", "yellow"],
  ready: ["·", "preparing", "dim"],
  queued: ["○", "queued", "dim"],
  running: ["▶", "running", "cyan"],
  succeeded: ["✓", "ok", "green"],
  failed: ["✗", "failed", "red"],
  cancelled: ["!", "cancelled", "yellow"],
  expired: ["-", "expired", "yellow"],
  coalesced: ["-", "coalesced", "dim"],
};

export interface Mark {
  readonly sign: string;
  readonly word: string;
}

export function markOf(job: Pick<JobSummary, "state" | "cached">, paint: Paint): Mark {
  const [sign, word, colour] = marks[job.state];
  const isHit = job.cached && job.state === "succeeded";
  return { sign: paint[colour](sign), word: paint[colour](isHit ? "hit" : word) };
}
