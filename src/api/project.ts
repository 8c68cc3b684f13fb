import { z } from "zod";

/** A project (instance name) that has blobs of its own. */
export const Project = z
  .object({
    /** Null for one that began before names were kept: its directory says how its name begins. */
    name: z.string().nullable(),
    directory: z.string(),
    /** Who was the first to write into it; null where that was not kept. */
    begunBy: z.string().nullable(),
    begunAt: z.iso.datetime().nullable(),
    blobs: z.number().int(),
    bytes: z.number().int(),
  })
  .meta({ id: "Project" });
export type Project = z.infer<typeof Project>;

export const RemoveProjects = z
  .strictObject({
    /** Projects by their names. */
    names: z.array(z.string().min(1).max(128)).max(1_000).default([]),
    /** All that have no blobs. */
    empty: z.boolean().default(false),
    /** Also removes the blobs of named projects, unless they were used within some 3 hours. */
    withBlobs: z.boolean().default(false),
  })
  .refine(({ names, empty }) => names.length > 0 || empty, "name projects, or say empty")
  .meta({ id: "RemoveProjects" });
export type RemoveProjects = z.input<typeof RemoveProjects>;

export const RemovedProjects = z
  .object({
    /** By name; by directory where no name is known. */
    removed: z.array(z.string()),
    kept: z.array(z.object({ project: z.string(), why: z.string() })),
  })
  .meta({ id: "RemovedProjects" });
export type RemovedProjects = z.infer<typeof RemovedProjects>;
