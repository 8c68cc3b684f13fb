import type { JobEnd } from "#api/collector.ts";
import { tries } from "./decide-claim.ts";

/** A job in hand, read under the lock of its row. */
export interface JobInHand {
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly collector: string;
}

/** What becomes of a job that its collector lets go. */
export type AfterJob =
  | { readonly state: "success" }
  | { readonly state: "failure"; readonly error: string }
  | {
      readonly state: "queued";
      readonly attempts: number;
      readonly afterMs: number;
      /** What went wrong; null when nothing did. */
      readonly error: string | null;
    };

/** Decides what a collector's last word about a job means. */
export function decideEnd(job: JobInHand, end: JobEnd, retryAfterMs: number): AfterJob {
  switch (end.outcome) {
    case "success":
      return { state: "success" };
    case "permanent":
      return { state: "failure", error: end.error };
    case "transient":
      if (job.attempts >= job.maxAttempts) {
        return {
          state: "failure",
          error: `given up after ${tries(job.attempts)}; the last one: ${end.error}`,
        };
      }
      return { state: "queued", attempts: job.attempts, afterMs: retryAfterMs, error: end.error };
    case "handed-back":
      // As if it had never been handed out.
      return { state: "queued", attempts: Math.max(0, job.attempts - 1), afterMs: 0, error: null };
  }
}

/** Decides what becomes of a job whose lease is over. */
export function decideSilence(job: JobInHand): AfterJob {
  if (job.attempts >= job.maxAttempts) {
    return {
      state: "failure",
      error: `given up after ${tries(job.attempts)}: collector ${job.collector} went silent in the last one`,
    };
  }
  return {
    state: "queued",
    attempts: job.attempts,
    afterMs: 0,
    error: `collector ${job.collector} went silent`,
  };
}
