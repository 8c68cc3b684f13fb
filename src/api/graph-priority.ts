import { z } from "zod";

/** Requests another priority of a graph; fields that are absent stay. Higher is sooner. */
export const SetGraphPriority = z
  .strictObject({
    /** For this job alone: its own priority, which is added to that of the graph. */
    job: z.string().min(1).max(1_024).optional(),
    priority: z.number().int().min(-1_000).max(1_000).optional(),
    /** The one class that nothing overtakes. */
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
    /** The job with this priority of its own; null for that of the graph. */
    job: z.string().nullable(),
    priority: z.number().int(),
    top: z.boolean(),
    /** States that the priority was lowered, and why. */
    notice: z.string().nullable(),
    /** How many jobs in the queue got another place. */
    moved: z.number().int(),
  })
  .meta({ id: "GraphPriority" });
export type GraphPriority = z.infer<typeof GraphPriority>;
