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
    "Which jobs are in it, and with them what they need. Example: kind:test & !slow. Default: all.",
  ),
  inactive: JobSelection.optional().describe(
    "Which of its jobs run only when somebody asks for them; so do those that need one of these.",
  ),
  parameters: z
    .record(z.string(), z.json())
    .optional()
    .describe("Values of parameters; those given when it is asked for come before."),
  switches: SwitchValues.optional().describe(
    "Values of switches; those given when it is asked for come before, those of the branch after.",
  ),
});
export type NamedGraph = z.output<typeof NamedGraph>;
