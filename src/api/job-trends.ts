import { z } from "zod";

const Count = z.number().int().nonnegative();

/** What one point of a trend stands for. */
export const TrendsBy = z.enum(["week", "graph"]);
export type TrendsBy = z.infer<typeof TrendsBy>;

/** The runs of a job in one bucket. */
const TrendPoint = z.object({
  /** The position in `buckets`. */
  bucket: Count,
  runs: Count,
  failures: Count,
  /** The median duration of runs that succeeded, in ms; null without one. */
  medianMs: Count.nullable(),
});

/** The trend of one job. */
export const JobTrend = z.object({
  name: z.string(),
  /** Executed runs: results from the cache, lost workers and errors of the farm do not count. */
  runs: Count,
  failures: Count,
  /** The median over all buckets, in ms. */
  medianMs: Count.nullable(),
  /** In the order of `buckets`; buckets without a run are left out. */
  points: z.array(TrendPoint),
});
export type JobTrend = z.infer<typeof JobTrend>;

/** `GET /job-trends`: durations and failures of the jobs of a repository over time. */
export const JobTrends = z
  .object({
    repository: z.string(),
    by: TrendsBy,
    /** Weeks (they begin on Mondays, in UTC) or graphs, the oldest first. */
    buckets: z.array(
      z.object({
        at: z.iso.datetime(),
        /** Null for a week. */
        graph: z.object({ id: z.string(), commit: z.string() }).nullable(),
      }),
    ),
    /** Those with most failures first, then those that took longest together. */
    jobs: z.array(JobTrend),
    /** Whether there are more jobs, or more graphs in these weeks, than were read. */
    isCut: z.boolean(),
  })
  .meta({ id: "JobTrends" });
export type JobTrends = z.infer<typeof JobTrends>;
