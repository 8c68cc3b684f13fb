import { z } from "zod";
import { RunOutcome } from "./run-outcome.ts";

/** A graph of the same branch in which the job ended. */
const NeighbourGraph = z.object({
  id: z.string(),
  commit: z.string(),
  subject: z.string(),
  at: z.iso.datetime(),
});

/** Why a job of a graph failed, and since when. */
export const FailureOfJob = z.object({
  job: z.string(),
  /** Another failed job that it depends on; null when it failed by itself. */
  because: z.string().nullable(),
  /** The number of its latest run. */
  run: z.number().int(),
  outcome: RunOutcome.nullable(),
  exitCode: z.number().int().nullable(),
  message: z.string().nullable(),
  executionId: z.string().nullable(),
  /** The last graph of the branch, before this one, in which the job succeeded; null when there is none. */
  lastPassed: NeighbourGraph.nullable(),
  /** The first graph of the branch after `lastPassed` in which it failed: it may be this one. */
  firstFailed: NeighbourGraph,
  /** The graphs of the branch between the two, in which the job did not end. */
  graphsBetween: z.number().int().nonnegative(),
  /** The same action succeeded in another run: the outcome does not follow from the inputs. */
  flaky: z.boolean(),
  /** Null when there is no log, or the caller may not read logs. */
  log: z
    .object({
      lines: z.array(z.object({ text: z.string(), isError: z.boolean() })),
      /** Whether the log continues after the last of these lines. */
      continues: z.boolean(),
    })
    .nullable(),
});
export type FailureOfJob = z.infer<typeof FailureOfJob>;

export const GraphFailures = z
  .object({
    graph: z.string(),
    /** At most 20, first those that failed by themselves. */
    failures: z.array(FailureOfJob),
    /** How many further jobs failed. */
    more: z.number().int().nonnegative(),
    /** Jobs that did not run because of a failure. */
    skipped: z.number().int().nonnegative(),
  })
  .meta({ id: "GraphFailures" });
export type GraphFailures = z.infer<typeof GraphFailures>;
