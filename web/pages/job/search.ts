import { z } from "zod";

export const jobViews = ["runs", "definition", "origin"] as const;
export type JobView = (typeof jobViews)[number];

export const JobSearch = z.object({
  view: z.enum(jobViews).optional().catch(undefined),
  /** The run; the last one when absent. */
  run: z.coerce.number().int().positive().optional().catch(undefined),
  /** A line of its log, counted from 1. */
  line: z.coerce.number().int().positive().optional().catch(undefined),
  find: z.coerce.string().optional().catch(undefined),
});
export type JobSearch = z.infer<typeof JobSearch>;
