import type { Outcome } from "../execution.ts";

/** What can be said about a lease that ends. */
export type LeaseEnd =
  | {
      readonly kind: "reported";
      readonly outcome: Exclude<Outcome, "worker_lost">;
      /** Input blobs that were not to be had: no other worker would find them either. */
      readonly lacksInputs: boolean;
    }
  /** Its time ran out. */
  | { readonly kind: "expired" }
  /** Another process has the name of its worker. */
  | { readonly kind: "replaced" }
  /** The worker gave it back. */
  | { readonly kind: "released" }
  /** It was to be cancelled, and the worker did not say in time that it had. */
  | { readonly kind: "cancel-overdue" };

/** What is known of the execution, read under the lock of its row. */
interface HeldExecution {
  readonly attempt: number;
  readonly hasStarted: boolean;
  readonly cancelRequested: boolean;
}

/** What becomes of an execution whose lease ends. */
export type Decision =
  | { readonly kind: "finish"; readonly outcome: Outcome }
  | { readonly kind: "requeue"; readonly outcome: "worker_lost" | "infrastructure_error" }
  /** Back in the queue as if it had never been handed out. */
  | { readonly kind: "return" };

/**
 * Decides what becomes of an execution whose current lease ends.
 *
 * What a process did is final, even when it was to be cancelled: it came first. What only
 * says that a machine failed is tried again, unless nobody wants it any more or the attempts are used up.
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
    // Cancelled though nobody asked: the worker was stopped under it.
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
