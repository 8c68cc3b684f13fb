import type { Outcome } from "../execution.ts";

/** How a lease ends. */
export type LeaseEnd =
  | {
      readonly kind: "reported";
      readonly outcome: Exclude<Outcome, "worker_lost">;
      /** Whether input blobs are missing, which no other worker would find either. */
      readonly lacksInputs: boolean;
    }
  /** Its time expired. */
  | { readonly kind: "expired" }
  /** Another process has taken over the name of its worker. */
  | { readonly kind: "replaced" }
  /** The worker gave it back. */
  | { readonly kind: "released" }
  /** Its cancellation was requested, and the worker did not confirm it in time. */
  | { readonly kind: "cancel-overdue" };

/** The state of the execution, read under the lock of its row. */
interface HeldExecution {
  readonly attempt: number;
  readonly hasStarted: boolean;
  readonly cancelRequested: boolean;
}

/** The decision about an execution whose lease ends. */
export type Decision =
  | { readonly kind: "finish"; readonly outcome: Outcome }
  | { readonly kind: "requeue"; readonly outcome: "worker_lost" | "infrastructure_error" }
  /** It returns to the queue as if it had never been assigned. */
  | { readonly kind: "return" };

/**
 * Decides about an execution whose current lease ends.
 *
 * The end of its process is final even if a cancellation was requested, because the end came first. After an end that
 * only reports a failed machine, it is retried, unless the execution is to be cancelled or its attempts are used up.
 */
export function decideAfterReport(
  held: HeldExecution,
  end: LeaseEnd,
  mostAttempts: number,
): Decision {
  switch (end.kind) {
    case "reported":
      if (end.lacksInputs) return { kind: "finish", outcome: "failed" };
      return afterOutcome(held, end.outcome, mostAttempts);
    case "expired":
    case "replaced":
      return tryAgain(held, "worker_lost", mostAttempts);
    case "released":
      if (held.cancelRequested) return { kind: "finish", outcome: "cancelled" };
      return held.hasStarted
        ? tryAgain(held, "infrastructure_error", mostAttempts)
        : { kind: "return" };
    case "cancel-overdue":
      return { kind: "finish", outcome: "cancelled" };
  }
}

function afterOutcome(
  held: HeldExecution,
  outcome: Exclude<Outcome, "worker_lost">,
  mostAttempts: number,
): Decision {
  switch (outcome) {
    case "succeeded":
    case "failed":
    case "timed_out":
    case "out_of_memory":
      return { kind: "finish", outcome };
    case "infrastructure_error":
    // Cancelled without a request: the worker was stopped while it ran.
    case "cancelled":
      return tryAgain(held, "infrastructure_error", mostAttempts);
  }
}

function tryAgain(
  held: HeldExecution,
  outcome: "worker_lost" | "infrastructure_error",
  mostAttempts: number,
): Decision {
  if (held.cancelRequested) return { kind: "finish", outcome: "cancelled" };
  return { kind: held.attempt < mostAttempts ? "requeue" : "finish", outcome };
}
