import type { InvocationCounts, InvocationState } from "#api/invocation.ts";

/** Between two calls a tool may link or test on its own machine for this long. */
const quietMs = 2 * 60_000;
/**
 * After this time without a reported end, an invocation counts as over, in ms: most are short, and it counts as running
 * again with its next call.
 */
const overMs = 60_000;
/** A tool whose build events broke off counts as silent for this long, and then as over, in ms. */
const silentMs = 10 * 60_000;

interface InvocationFacts {
  readonly lastSeenAt: Date;
  readonly cancelledAt: Date | null;
  /** When the last connection of its tool closed; null while one is open, or when the server did not see it close. */
  readonly leftAt: Date | null;
  readonly counts: Pick<InvocationCounts, "queued" | "executing">;
  /** The end in its build events: undefined when it sends none, null when there is no end yet. */
  readonly exit: { readonly code: number; readonly name: string } | null | undefined;
}

/**
 * Returns the state of an invocation.
 *
 * Only build events report its end. A tool without that report counts as running while it calls and waits. It is over
 * when its connections have closed, or some time after its last call, whatever the results of its actions.
 */
export function invocationState(
  { lastSeenAt, cancelledAt, leftAt, counts, exit }: InvocationFacts,
  now: Date,
): InvocationState {
  if (exit !== undefined && exit !== null) {
    if (exit.code === 0) return "succeeded";
    return cancelledAt !== null || exit.name === "INTERRUPTED" ? "cancelled" : "failed";
  }
  if (cancelledAt !== null) return "cancelled";
  if (counts.queued + counts.executing > 0) return "running";
  if (leftAt !== null && leftAt >= lastSeenAt) return "over";
  const quietFor = now.getTime() - lastSeenAt.getTime();
  if (exit === undefined) return quietFor < overMs ? "running" : "over";
  if (quietFor < quietMs) return "running";
  return quietFor < silentMs ? "silent" : "over";
}
