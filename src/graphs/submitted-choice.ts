import { z } from "zod";
import { SwitchValues } from "#api/graph-choice.ts";

/** The choices of a graph's submitter among its definitions, which can be applied to other definitions. */
export const SubmittedChoice = z.object({
  /** Which of the graphs that the definitions name; null for all jobs. */
  named: z.string().nullable(),
  selection: z.string().nullable(),
  /** The given values; null when the graph was not submitted by a principal, or the values were not stored. */
  given: z
    .object({ parameters: z.record(z.string(), z.json()), switches: SwitchValues })
    .nullable(),
});
export type SubmittedChoice = z.infer<typeof SubmittedChoice>;
