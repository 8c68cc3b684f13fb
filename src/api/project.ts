import { z } from "zod";

/** A project (instance name) that has its own blobs. */
export const Project = z
  .object({
    /** Null for a project from before names were stored; its directory contains the beginning of its name. */
    name: z.string().nullable(),
    directory: z.string(),
    /** The first principal that wrote into it; null when that was not recorded. */
    begunBy: z.string().nullable(),
    begunAt: z.iso.datetime().nullable(),
    /** The repositories that keep their blobs in it. */
    repositories: z.array(z.string()),
    blobs: z.number().int(),
    bytes: z.number().int(),
  })
  .meta({ id: "Project" });
export type Project = z.infer<typeof Project>;

export const RemoveProjects = z
  .strictObject({
    /** Projects by their names. */
    names: z.array(z.string().min(1).max(128)).max(1_000).default([]),
    /** Selects all projects without blobs. */
    empty: z.boolean().default(false),
    /** Also removes the blobs of named projects, unless they were used within about the last 3 hours. */
    withBlobs: z.boolean().default(false),
  })
  .refine(({ names, empty }) => names.length > 0 || empty, "name projects, or set empty")
  .meta({ id: "RemoveProjects" });
export type RemoveProjects = z.input<typeof RemoveProjects>;

export const RemovedProjects = z
  .object({
    /** By name; by directory when the name is unknown. */
    removed: z.array(z.string()),
    kept: z.array(z.object({ project: z.string(), why: z.string() })),
  })
  .meta({ id: "RemovedProjects" });
export type RemovedProjects = z.infer<typeof RemovedProjects>;
