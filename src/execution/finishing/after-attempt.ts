import type { AfterAttempt, ChosenSize, EndedRun } from "../sizing/size-class-roles.ts";
import { soundChoice } from "../sizing/sound-choice.ts";
import type { Decision } from "./decide-after-report.ts";
import type { EndingLease } from "./decide-endings.ts";
import type { HeldRow } from "./end-leases.store.ts";

/** More than the classes of any farm: the limit for a learner that never stops retrying. */
const mostSizeRetries = 32;

/**
 * Returns the learner's decision after an attempt; undefined when the learner is not consulted.
 *
 * It is consulted when a process has ended and when its worker was lost, but not for cancelled executions, for second
 * runs, or where inputs are missing.
 */
export function afterAttempt(
  held: HeldRow,
  ending: EndingLease,
  decision: Exclude<Decision, { readonly kind: "return" }>,
  now: Date,
): AfterAttempt | undefined {
  const { learner, end } = ending;
  if (learner === undefined || !held.isSized || held.hedgeOf !== null) return undefined;
  if (held.cancelRequested || held.sizeRetries >= mostSizeRetries) return undefined;
  if (end.kind === "reported" && end.lacksInputs) return undefined;
  const outcome = outcomeFor(held, decision);
  if (outcome === undefined) return undefined;
  const next = learner.ended({
    sizeClass: held.workerSizeClass,
    outcome,
    durationMs: Math.max(0, now.getTime() - (held.startedAt ?? held.leasedAt).getTime()),
    timeoutMs: held.timeoutMs,
    exitCode: ending.exitCode,
    cpuMs: ending.usage && ending.usage.userMs + ending.usage.systemMs,
    peakMemoryBytes: ending.usage?.peakMemoryBytes,
  });
  return sound(next, held);
}

/** Drops a decision outside of the bounds of the request. */
function sound(next: AfterAttempt, held: HeldRow): AfterAttempt {
  const within = (chosen: ChosenSize) =>
    soundChoice(chosen, {
      least: held.leastSizeClass,
      most: held.mostSizeClass ?? undefined,
      timeoutMs: held.requestedTimeoutMs,
    });
  if (next.kind === "again") {
    const chosen = within(next.chosen);
    return chosen === undefined ? { kind: "final", background: undefined } : { ...next, chosen };
  }
  const chosen = next.background && within(next.background.chosen);
  return { kind: "final", background: next.background && chosen && { ...next.background, chosen } };
}

function outcomeFor(
  held: HeldRow,
  { kind, outcome }: Exclude<Decision, { readonly kind: "return" }>,
): EndedRun["outcome"] | undefined {
  switch (outcome) {
    case "succeeded":
    case "failed":
    case "timed_out":
    case "out_of_memory":
      return outcome;
    case "worker_lost":
      return kind === "requeue" && held.startedAt !== null ? outcome : undefined;
    case "cancelled":
    case "infrastructure_error":
      return undefined;
  }
}
