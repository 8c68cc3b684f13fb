import type { Choice, Reason } from "../choice.ts";
import type { EndedRun, Next, Situation } from "../strategy.ts";
import { greatestOf } from "./class-at.ts";
import { seconds } from "./figures-in-words.ts";
import { plainAlternatives, plainChoice } from "./plain-choice.ts";

/**
 * The seed's retries: an execution that failed or timed out on a smaller class runs on the largest with the requested
 * timeout, and only a failure there is reported to the client.
 *
 * A lost worker contains no information about the class, so the run is repeated on the same one. The queue limits the
 * number of repetitions.
 */
export function retryOnLargest(situation: Situation, runs: readonly EndedRun[]): Next {
  const last = runs.at(-1);
  if (last === undefined || last.end === "succeeded") return { kind: "final" };
  if (last.end === "lost") return { kind: "again", choice: sameClassAgain(situation, last) };
  const largest = greatestOf(situation).sizeClass;
  if (last.sizeClass >= largest) return { kind: "final" };
  const reason: Reason = {
    kind: retryKinds[last.end],
    text: `It ${ends[last.end]} on class ${last.sizeClass} after ${seconds(last.durationMs)}${exit(last)}. Class ${largest} shows whether it lacked resources, with the requested ${seconds(situation.timeoutMs)}.`,
  };
  const alternatives = plainAlternatives(situation);
  return {
    kind: "again",
    choice: plainChoice(largest, situation.timeoutMs, reason, alternatives),
  };
}

function sameClassAgain(situation: Situation, lost: EndedRun): Choice {
  // Its class may have disappeared with its worker; then the next one of at least this size is used.
  const same =
    situation.classes.find(({ sizeClass }) => sizeClass >= lost.sizeClass) ?? greatestOf(situation);
  return plainChoice(
    same.sizeClass,
    Math.min(lost.timeoutMs, situation.timeoutMs),
    {
      kind: "retry-after-lost-worker",
      text: `Its worker of class ${lost.sizeClass} was lost after ${seconds(lost.durationMs)}, which says nothing about the class.`,
    },
    plainAlternatives(situation),
  );
}

const retryKinds = {
  failed: "retry-after-failure",
  timed_out: "retry-after-timeout",
  out_of_memory: "retry-after-out-of-memory",
} as const;

const ends = {
  failed: "failed",
  timed_out: "timed out",
  out_of_memory: "ran out of memory",
} as const;

function exit({ exitCode }: EndedRun): string {
  return exitCode === undefined ? "" : `, with exit code ${exitCode}`;
}
