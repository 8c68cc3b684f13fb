import type { JobSummary } from "#api/graph.ts";
import { durationText } from "#core/duration-text.ts";
import type { Paint } from "../terminal/paint.ts";
import { jobDurationMs } from "./job-duration.ts";
import { markOf, reasonBeside } from "./job-mark.ts";

/** Returns one line for a changed job: for logs and pipes, which cannot be redrawn. */
export function transitionLine(job: JobSummary, now: Date, paint: Paint): string {
  const { sign, word } = markOf(job, paint);
  const ms = job.finishedAt === null ? undefined : jobDurationMs(job, now);
  const details = [
    ...(ms === undefined ? [] : [durationText(ms)]),
    ...(job.runs > 1 ? [`run ${job.runs}`] : []),
    ...(job.reason === null ? [] : [reasonBeside(job)]),
  ];
  const also = details.length === 0 ? "" : ` ${paint.dim(`(${details.join(", ")})`)}`;
  return `${sign} ${job.name} ${word}${also}`;
}

/** States that last only milliseconds are not printed, because a line for each would be noise. */
export function isPrintedState(job: JobSummary): boolean {
  switch (job.state) {
    case "blocked":
    case "ready":
    case "queued":
    case "inactive":
      return false;
    case "running":
    case "succeeded":
    case "failed":
    case "cancelled":
    case "unreachable":
    case "waiting":
    case "expired":
    case "coalesced":
      return true;
  }
}
