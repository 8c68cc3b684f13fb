import { z } from "zod";
import { SwitchValues } from "#api/graph-choice.ts";
import { parseSelection } from "#api/selection/parse-selection.ts";
import { asksAbout } from "#api/selection/selection.ts";
import { SelectionProblem } from "#api/selection/selection-problem.ts";

/** A selection among definitions, which have no states. */
const JobSelection = z.string().superRefine((text, context) => {
  const message = problemOfSelection(text);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

/** Returns the problem of a selection among jobs that have not run; undefined when there is none. */
function problemOfSelection(text: string): string | undefined {
  try {
    if (!asksAbout(parseSelection(text), "state")) return undefined;
    return "jobs have no state before they run; select by name, kind or tag";
  } catch (reason) {
    if (reason instanceof SelectionProblem) return reason.message;
    throw reason;
  }
}

/** A graph that can be requested by name. */
export const NamedGraph = z.strictObject({
  description: z.string().max(4_096).optional().describe("For people: what it is for."),
  select: JobSelection.optional().describe(
    "Its jobs; the jobs that they need are included. Example: kind:test & !slow. Default: all.",
  ),
  inactive: JobSelection.optional().describe(
    "Jobs that run only on request; this includes jobs that need one of these.",
  ),
  parameters: z
    .record(z.string(), z.json())
    .optional()
    .describe("Values of parameters; a request can replace them."),
  switches: SwitchValues.optional().describe(
    "Values of switches; values in a request replace them, and they replace values of the branch.",
  ),
});
export type NamedGraph = z.output<typeof NamedGraph>;
