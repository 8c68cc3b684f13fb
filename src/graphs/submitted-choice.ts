import { z } from "zod";
import { SwitchValues } from "#api/graph-choice.ts";

/** What whoever submitted a graph chose of its definitions: enough to choose the same of others. */
export const SubmittedChoice = z.object({
  /** Which of the graphs that the definitions name; null for all jobs. */
  named: z.string().nullable(),
  selection: z.string().nullable(),
  /** As they were given; null where nobody submitted the graph, or this was not kept. */
  given: z
    .object({ parameters: z.record(z.string(), z.json()), switches: SwitchValues })
    .nullable(),
});
export type SubmittedChoice = z.infer<typeof SubmittedChoice>;
