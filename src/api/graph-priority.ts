import { z } from "zod";

/** Changes the priority of a graph; absent fields stay unchanged. Jobs with a higher priority start first. */
export const SetGraphPriority = z
  .strictObject({
    /** Only for this job: its own priority, which is added to the priority of the graph. */
    job: z.string().min(1).max(1_024).optional(),
    priority: z.number().int().min(-1_000).max(1_000).optional(),
    /** The top class, which nothing overtakes. */
    top: z.boolean().optional(),
    reason: z.string().max(2_000).optional(),
  })
  .refine(({ priority, top }) => priority !== undefined || top !== undefined, {
    error: "name a priority, top, or both",
  })
  .refine(({ job, top }) => job === undefined || top === undefined, {
    error: "the top class is for whole graphs: name a priority for a job",
  })
  .meta({ id: "SetGraphPriority" });
export type SetGraphPriority = z.infer<typeof SetGraphPriority>;

export const GraphPriority = z
  .object({
    id: z.string(),
    /** The job whose own priority this is; null for the priority of the graph. */
    job: z.string().nullable(),
    priority: z.number().int(),
    top: z.boolean(),
    /** A notice that the priority was lowered, and why. */
    notice: z.string().nullable(),
    /** The number of queued jobs whose position changed. */
    moved: z.number().int(),
  })
  .meta({ id: "GraphPriority" });
export type GraphPriority = z.infer<typeof GraphPriority>;
