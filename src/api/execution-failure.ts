import { z } from "zod";
import { ComparedAction } from "./action-comparison.ts";
import { FailureOfJob } from "./failure-of-job.ts";

/** Why an execution failed, and since when. */
export const ExecutionFailure = z
  .object({
    /** Null when it has not ended, or has not failed. */
    failure: z
      .object({
        outcome: z.string(),
        exitCode: z.number().int().nullable(),
        message: z.string(),
        /** The source file that its command names; null when it names none, or several. */
        source: z.string().nullable(),
        here: ComparedAction,
        /** The last one of its kind that succeeded: of the same job on its branch, or of the same target and outputs. */
        lastPassed: ComparedAction.nullable(),
        /** The first failure after `lastPassed`: it may be this execution. */
        firstFailed: ComparedAction,
        /** The same action succeeded before: the outcome does not follow from the inputs. */
        flaky: z.boolean(),
        /** The end of what it wrote. Null when there is none, or the caller may not read logs. */
        log: FailureOfJob.shape.log,
      })
      .nullable(),
  })
  .meta({ id: "ExecutionFailure" });
export type ExecutionFailure = z.infer<typeof ExecutionFailure>;
