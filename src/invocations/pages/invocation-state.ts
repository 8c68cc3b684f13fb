import type { InvocationCounts, InvocationState } from "#api/invocation.ts";

/** Between two calls a tool may link or test on its own machine for so long. */
const quietMs = 2 * 60_000;

export interface InvocationFacts {
  readonly lastSeenAt: Date;
  readonly cancelledAt: Date | null;
  readonly counts: Pick<InvocationCounts, "queued" | "executing">;
  /** What its build events say of its end: undefined when it sends none, null when it has not said. */
  readonly exit: { readonly code: number; readonly name: string } | null | undefined;
}

/**
 * How an invocation stands.
 *
 * Only build events tell how it ended. Of a tool without them it is known that it is there while it asks
 * and waits; afterwards it is silent, whatever became of its actions.
 */
export function invocationState(
  { lastSeenAt, cancelledAt, counts, exit }: InvocationFacts,
  now: Date,
): InvocationState {
  if (exit !== undefined && exit !== null) {
    if (exit.code === 0) return "succeeded";
    return cancelledAt !== null || exit.name === "INTERRUPTED" ? "cancelled" : "failed";
  }
  if (cancelledAt !== null) return "cancelled";
  if (counts.queued + counts.executing > 0) return "running";
  return now.getTime() - lastSeenAt.getTime() < quietMs ? "running" : "silent";
}
