import { z } from "zod";
import { RunOutcome } from "./graph.ts";
import { JobState } from "./job-state.ts";

const JobOfCommit = z.object({
  graphId: z.string(),
  job: z.string(),
  commit: z.string(),
  subject: z.string(),
  state: JobState,
});

/** How a job relates to jobs with its key on other commits. */
export const JobCoalescing = z
  .object({
    /** The job whose run is finally used for it, and which was not coalesced itself. Null: its own run. */
    into: JobOfCommit.extend({ outcome: RunOutcome.nullable() }).nullable(),
    /** The older jobs that use its run, the newest first; at most 200. Each can be activated. */
    answersFor: z.array(JobOfCommit),
    /**
     * The range to bisect, when it failed and its run is used for other jobs: the first bad commit is one of theirs or
     * its own. Null also when no good run is known before them.
     */
    bisect: z
      .object({
        repository: z.string(),
        selection: z.string(),
        good: z.string(),
        bad: z.string(),
      })
      .nullable(),
  })
  .meta({ id: "JobCoalescing" });
export type JobCoalescing = z.infer<typeof JobCoalescing>;
