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

/** How a job stands to others of its key on other commits. */
export const JobCoalescing = z
  .object({
    /** The job whose run finally stands for it, which was not coalesced itself. Null: its own run. */
    into: JobOfCommit.extend({ outcome: RunOutcome.nullable() }).nullable(),
    /** For which older jobs it answers, the newest first; at most 200. Each can be activated. */
    answersFor: z.array(JobOfCommit),
    /**
     * When it failed and answers for others: the first bad commit is one of them or its own. The range to bisect. Null
     * also when no good run is known before them.
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
