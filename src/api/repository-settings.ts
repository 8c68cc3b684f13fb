import { z } from "zod";
import { problemOfProjectName } from "#core/project-name.ts";

export const RepositorySettings = z
  .object({
    repository: z.string(),
    /** The project of the blobs and results of its next graphs. */
    project: z.string(),
  })
  .meta({ id: "RepositorySettings" });
export type RepositorySettings = z.infer<typeof RepositorySettings>;

const ProjectName = z
  .string()
  .superRefine((name, context) => {
    const problem = problemOfProjectName(name);
    if (problem !== undefined) context.addIssue(`this name of a project ${problem}`);
  })
  .meta({ maxLength: 128 });

/** Settings that are left out stay as they are. */
export const SetRepository = z
  .strictObject({ project: ProjectName.optional() })
  .meta({ id: "SetRepository" });
export type SetRepository = z.infer<typeof SetRepository>;
