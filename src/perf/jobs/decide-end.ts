import type { JobEnd } from "#api/collector.ts";
import { tries } from "./decide-claim.ts";

/** A job in progress, read while its row is locked. */
interface LeasedJob {
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly collector: string;
  /** The number of leases so far; each increases it. */
  readonly epoch: number;
}

/** Far more often than a machine is updated or shut down during one job. */
const mostHandBacks = 20;

/** The decision about a job that its collector returns. */
export type AfterJob =
  | { readonly state: "success" }
  | { readonly state: "failure"; readonly error: string }
  | {
      readonly state: "queued";
      readonly attempts: number;
      readonly afterMs: number;
      /** The error; null without an error. */
      readonly error: string | null;
    };

/**
 * Decides about a job that its collector has ended. `unreported` are cases without figures and without an error: with one
 * of them the job is not complete, whatever its collector reports.
 */
export function decideEnd(
  job: LeasedJob,
  end: JobEnd,
  unreported: readonly string[],
  retryAfterMs: number,
): AfterJob {
  switch (end.outcome) {
    case "success":
      return unreported.length === 0
        ? { state: "success" }
        : tryAgain(job, unreportedText(job.collector, unreported), retryAfterMs);
    case "permanent":
      return { state: "failure", error: end.error };
    case "transient":
      return tryAgain(job, end.error, retryAfterMs);
    case "handed-back": {
      // As if it had never been leased; but only a limited number of times, because otherwise its request might never
      // end.
      const isOnceMore = job.epoch - job.attempts < mostHandBacks;
      const attempts = isOnceMore ? Math.max(0, job.attempts - 1) : job.attempts;
      return { state: "queued", attempts, afterMs: 0, error: null };
    }
  }
}

function tryAgain(job: LeasedJob, error: string, afterMs: number): AfterJob {
  const { attempts } = job;
  if (attempts < job.maxAttempts) return { state: "queued", attempts, afterMs, error };
  return {
    state: "failure",
    error: `given up after ${tries(attempts)}; the last one: ${error}`,
  };
}

const mostNamed = 5;

function unreportedText(collector: string, unreported: readonly string[]): string {
  const named = unreported.slice(0, mostNamed).map((key) => `"${key}"`);
  const more = unreported.length > mostNamed ? ` and ${unreported.length - mostNamed} more` : "";
  return `collector ${collector} reported that all is measured, but neither values nor an error of ${named.join(", ")}${more}`;
}

/** Decides about a job whose lease has expired. */
export function decideSilence(job: Omit<LeasedJob, "epoch">): AfterJob {
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
