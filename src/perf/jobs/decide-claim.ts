/** A job before it is leased to a collector, read while its row is locked. */
interface ClaimableJob {
  readonly state: "queued" | "in-progress";
  /** The process to which it was last leased. */
  readonly incarnation: string | null;
  readonly attempts: number;
  readonly maxAttempts: number;
}

/** The decision of a claim about a job. */
type ClaimDecision =
  /** The answer to an earlier claim was lost: it is sent again, with the same epoch. */
  | { readonly kind: "repeat" }
  | { readonly kind: "begin"; readonly attempts: number }
  /** Its collector's process ended during the job. */
  | { readonly kind: "resume"; readonly attempts: number }
  | { readonly kind: "fail"; readonly error: string };

export function decideClaim(job: ClaimableJob, incarnation: string): ClaimDecision {
  if (job.state === "in-progress" && job.incarnation === incarnation) return { kind: "repeat" };
  if (job.attempts >= job.maxAttempts) {
    return {
      kind: "fail",
      error: `given up after ${tries(job.attempts)}: its collector stopped during the last one`,
    };
  }
  const attempts = job.attempts + 1;
  return { kind: job.state === "in-progress" ? "resume" : "begin", attempts };
}

export function tries(count: number): string {
  return count === 1 ? "1 attempt" : `${count} attempts`;
}
