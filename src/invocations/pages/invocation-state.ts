import type { InvocationCounts, InvocationState } from "#api/invocation.ts";

/** Between two calls a tool may link or test on its own machine for so long. */
const quietMs = 2 * 60_000;
/** One that tells no end is taken for over sooner: most are short, and it runs again when it asks again. */
const overMs = 60_000;

interface InvocationFacts {
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
 * and waits; afterwards it is over, whatever became of its actions.
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
