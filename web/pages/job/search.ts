import { z } from "zod";

export const JobSearch = z.object({
  /** Which run; the last one when absent. */
  run: z.coerce.number().int().positive().optional().catch(undefined),
  /** A line of its log, counted from 1. */
  line: z.coerce.number().int().positive().optional().catch(undefined),
  find: z.coerce.string().optional().catch(undefined),
});
export type JobSearch = z.infer<typeof JobSearch>;
