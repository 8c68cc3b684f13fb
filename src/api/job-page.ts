import { z } from "zod";
import { FailureOfJob } from "./failure-of-job.ts";
import { JobDetail } from "./graph.ts";
import { JobState } from "./job-state.ts";

/** What the page of a job opens with, in one answer. */
export const JobPage = z
  .object({
    detail: JobDetail,
    /** The jobs that it waits for and those that wait for it, each once. */
    neighbours: z.array(z.object({ name: z.string(), state: JobState })),
    /** Null unless it failed. */
    failure: FailureOfJob.nullable(),
  })
  .meta({ id: "JobPage" });
export type JobPage = z.infer<typeof JobPage>;
