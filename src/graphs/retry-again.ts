import type { RunOutcome } from "#api/graph.ts";

/** A job's retry setting for one class of its failures. */
interface RetriedClass {
  readonly retry?: boolean | undefined;
}

/** The end of a run, with its job's retry settings. */
interface EndedTry {
  readonly outcome: RunOutcome;
  readonly failureClass: string | null;
  /** The classes that the job's definition names. */
  readonly classes: Readonly<Record<string, RetriedClass>>;
  readonly used: number;
  readonly budget: number;
}

/** How a run ended, and what the farm can provide itself if it lost the run's inputs. */
interface EndedAttempt extends EndedTry {
  readonly lostInputs: boolean;
  readonly inputLosses: number;
}

/** Inputs that are still missing after this many preparations are treated as lost. */
const mostInputLosses = 2;

/** Returns the failure class for which an ended run is retried automatically; undefined when it is not. */
export function retriesOn({
  lostInputs,
  inputLosses,
  ...ended
}: EndedAttempt): "retries" | "input-losses" | undefined {
  // Nothing has run: preparing it again brings back what Git or an earlier job's result still has.
  if (lostInputs && ended.outcome === "failed")
    return inputLosses < mostInputLosses ? "input-losses" : undefined;
  return retriesAgain(ended) ? "retries" : undefined;
}

/**
 * Whether an ended run is retried automatically.
 *
 * Only automatic retries use the budget: runs that people requested are not counted. A run that a person cancelled is
 * not retried.
 */
export function retriesAgain({ outcome, used, budget, ...failure }: EndedTry): boolean {
  switch (outcome) {
    case "succeeded":
    case "cancelled":
      return false;
    case "failed":
    case "timed_out":
    case "out_of_memory":
      return used < budget && shouldPrefetch(failure);
    case "worker_lost":
    case "infrastructure_error":
      // The farm caused the failure, not the job, so failure classes do not apply.
      return used < budget;
  }
}

/** When a definition names failures that are worth another attempt, others are not retried. */
function shouldPrefetch({
  failureClass,
  classes,
}: Pick<EndedTry, "failureClass" | "classes">): boolean {
  const mine =
    failureClass !== null && Object.hasOwn(classes, failureClass)
      ? classes[failureClass]
      : undefined;
  const someAre = Object.values(classes).some(({ retry }) => retry === true);
  return someAre ? mine?.retry === true : mine?.retry !== false;
}
