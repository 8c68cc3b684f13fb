import type { InvocationCounts, InvocationState } from "#api/invocation.ts";

/** Between two calls a tool may link or test on its own machine for this long. */
const quietMs = 2 * 60_000;
/**
 * After this time without a reported end, an invocation counts as over, in ms: most are short, and it counts as running
 * again with its next call.
 */
const overMs = 60_000;

interface InvocationFacts {
  readonly lastSeenAt: Date;
  readonly cancelledAt: Date | null;
  readonly counts: Pick<InvocationCounts, "queued" | "executing">;
  /** The end in its build events: undefined when it sends none, null when there is no end yet. */
  readonly exit: { readonly code: number; readonly name: string } | null | undefined;
}

/**
 * Returns the state of an invocation.
 *
 * Only build events report its end. A tool without them counts as running while it calls and waits, and then as over,
 * whatever the results of its actions.
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
  const quietFor = now.getTime() - lastSeenAt.getTime();
  if (exit === undefined) return quietFor < overMs ? "running" : "over";
  return quietFor < quietMs ? "running" : "silent";
}
