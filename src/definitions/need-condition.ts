import { z } from "zod";
import { EdgeCondition, RunOutcome } from "#api/graph.ts";
import { suggestion } from "./nearest-name.ts";

const plainConditions = ["success", "failure", "end"] as const;
const PlainCondition = z.enum(plainConditions);

/** How a needed job must have ended: one of three words, a run's outcome, or a class of its failures. */
export const NeededEnd = z
  .string({ error: "must be success, failure, end, an outcome or a class of failures" })
  .regex(
    /^[a-z][a-z0-9_-]{0,63}$/,
    "must be success, failure, end, an outcome or a class of failures",
  );

/** Returns the condition in the form that edges use. */
export function conditionOf(on: string | undefined): EdgeCondition {
  const plain = PlainCondition.safeParse(on ?? "success");
  return plain.success ? plain.data : EdgeCondition.parse(`outcome:${on}`);
}

/** Returns the problem of waiting for such an end of a job with these failure classes. */
export function problemOfNeededEnd(
  on: string | undefined,
  classes: readonly string[],
): string | undefined {
  if (on === undefined) return undefined;
  const known = [...plainConditions, ...RunOutcome.options, ...classes];
  if (known.includes(on)) return undefined;
  const hint = suggestion(on, known);
  return `"${on}" is neither success, failure or end, nor an outcome, nor a class that its "failure" names${hint}`;
}
