import { z } from "zod";
import { RunOutcome } from "./run-outcome.ts";

const Count = z.number().int().nonnegative();
const Share = z.number().min(0).max(1);

/** A failure of an action that has also succeeded. */
export const FlakyExample = z.object({
  at: z.iso.datetime(),
  outcome: RunOutcome,
  /** The first error line, or the message of the run. */
  message: z.string().nullable(),
  /** Where it ran; null for an action of a build tool. */
  job: z.object({ graph: z.string(), name: z.string(), run: z.number().int() }).nullable(),
  /** Null when retention took the execution. */
  execution: z.string().nullable(),
  /** The graph in which the same action succeeded last; null for an action of a build tool. */
  passedIn: z.string().nullable(),
});
export type FlakyExample = z.infer<typeof FlakyExample>;

/** A job, or an action of a build tool, of which the same action had different outcomes. */
export const FlakyEntry = z.object({
  kind: z.enum(["job", "action"]),
  /** The repository of a job, or the project of an action. */
  repository: z.string(),
  /** The job; or the mnemonic and target of the action. */
  name: z.string(),
  /** Executions in the period, of all its actions: results of the cache do not count. */
  runs: Count,
  /** Those that failed although the same action has also succeeded. */
  failures: Count,
  /** `failures` / `runs`, with the interval of Wilson of 95 %. */
  rate: Share,
  low: Share,
  high: Share,
  /** How many different actions had different outcomes. */
  actions: Count,
  /** The latest failures first, at most 3. */
  examples: z.array(FlakyExample),
});
export type FlakyEntry = z.infer<typeof FlakyEntry>;

/** `GET /flaky`: in the order of the low ends of the intervals, the greatest first. */
export const FlakyEntries = z
  .object({ since: z.iso.datetime(), entries: z.array(FlakyEntry) })
  .meta({ id: "FlakyEntries" });
export type FlakyEntries = z.infer<typeof FlakyEntries>;
