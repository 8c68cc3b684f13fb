import type { RunOutcome } from "#api/graph.ts";

/** What a job's definition says about a class of its failures. */
interface RetriedClass {
  readonly retry?: boolean | undefined;
}

/** How a run ended, and what its job allows. */
interface EndedTry {
  readonly outcome: RunOutcome;
  readonly failureClass: string | null;
  /** The classes that the job's definition names. */
  readonly classes: Readonly<Record<string, RetriedClass>>;
  readonly used: number;
  readonly budget: number;
}

/** How a run ended, and what the farm gives of its own where it had lost the run's inputs. */
interface EndedAttempt extends EndedTry {
  readonly lostInputs: boolean;
  readonly inputLosses: number;
}

/** What cannot be had again after so many preparations is lost for good. */
const mostInputLosses = 2;

/** On whose account a run that ended so is followed by another one, by itself; undefined when it is not. */
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
 * Whether a run that ended so is followed by another one, by itself.
 *
 * Only automatic retries use the budget: runs that people asked for are not
 * counted. What a person cancelled stays cancelled.
 */
export function retriesAgain({ outcome, used, budget, ...failure }: EndedTry): boolean {
  switch (outcome) {
    case "succeeded":
    case "cancelled":
      return false;
    case "failed":
    case "timed_out":
    case "out_of_memory":
      return used < budget && isWorthIt(failure);
    case "worker_lost":
    case "infrastructure_error":
      // The farm's fault, not the job's: its classes do not speak of it.
      return used < budget;
  }
}

/** Once a definition says which failures are worth another try, the others are not. */
function isWorthIt({ failureClass, classes }: Pick<EndedTry, "failureClass" | "classes">): boolean {
  const mine =
    failureClass !== null && Object.hasOwn(classes, failureClass)
      ? classes[failureClass]
      : undefined;
  const someAre = Object.values(classes).some(({ retry }) => retry === true);
  return someAre ? mine?.retry === true : mine?.retry !== false;
}
