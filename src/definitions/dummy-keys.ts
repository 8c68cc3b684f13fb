import { z } from "zod";
import { RunOutcome } from "#api/graph.ts";
import { durationWithin } from "./duration.ts";

/** How a dummy job simulates a run without a machine, to test how graphs are processed. */
export const Dummy = z.strictObject({
  outcome: RunOutcome.optional().describe("The outcome of every run. Default: succeeded."),
  outcomes: z
    .array(RunOutcome)
    .min(1, "name at least one outcome")
    .max(100)
    .optional()
    .describe("The outcomes of its runs in sequence; the last one is repeated."),
  after: durationWithin(0, 30 * 24 * 3_600_000, "0s to 30d")
    .optional()
    .describe("How long a run takes. Default: no time."),
  "exit-code": z
    .number()
    .int()
    .min(0)
    .max(255)
    .optional()
    .describe("The exit code of runs that do not succeed."),
  "failure-class": z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,63}$/, "a class has lower-case letters, digits, _ and - only")
    .optional()
    .describe("The failure class of runs that do not succeed."),
  changes: z
    .boolean()
    .optional()
    .describe("Whether each run makes different outputs. Default: false."),
});
export type Dummy = z.output<typeof Dummy>;
