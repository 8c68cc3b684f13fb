import type { JobSummary } from "#api/graph.ts";
import type { JobState } from "#api/job-state.ts";
import type { Paint } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable-text.ts";

/** A sign and a word for each state, because some people cannot distinguish colours. */
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

interface Mark {
  readonly sign: string;
  readonly word: string;
}

/** Returns the reason after the word: `skipped`, then `because lint failed`. */
export function reasonBeside({ state, reason }: Pick<JobSummary, "state" | "reason">): string {
  if (reason === null) return "";
  const [, word] = marks[state];
  return printableLine(reason.startsWith(`${word} `) ? reason.slice(word.length + 1) : reason);
}

export function markOf(job: Pick<JobSummary, "state" | "cached">, paint: Paint): Mark {
  const [sign, word, colour] = marks[job.state];
  const isHit = job.cached && job.state === "succeeded";
  return { sign: paint[colour](sign), word: paint[colour](isHit ? "hit" : word) };
}
