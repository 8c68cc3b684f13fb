import { z } from "zod";
import { CommitSha } from "#core/commit-sha.ts";
import { oneOrMany } from "./one-or-many.ts";
import { InputGlob, RelativePath } from "./relative-path.ts";

const mostSources = 50;

/** The address of another repository, in files that all readers may see. */
export const SourceRepository = z
  .string()
  .min(1, "must be a path or a URL")
  .max(4_096)
  .refine(
    (address) => !/^[a-z][a-z0-9+.-]*:\/\/[^/@]*:[^/@]*@/i.test(address),
    "must not contain a password: everyone can read definitions. Configure it for the farm's Git instead",
  )
  .describe("A URL that the farm's Git can fetch, or a path on its machine.");

/** Another repository, parts of which the job reads. */
const Source = z.strictObject({
  repository: SourceRepository,
  rev: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe(
      "A branch, a tag or a commit. The farm looks up the commit when it creates the graph. Default: HEAD.",
    ),
  commit: CommitSha.optional().describe(
    "The commit itself, in place of rev. The farm fills it in.",
  ),
  at: RelativePath.describe("The directory for its files."),
  inputs: oneOrMany(InputGlob, "a pattern of paths")
    .optional()
    .describe("Patterns of the files that the job reads from it, as in inputs. Default: all."),
  submodule: z
    .literal(true)
    .optional()
    .describe(
      "It is a submodule of the commit: the job's own inputs select its files. The farm sets this.",
    ),
});
export type Source = z.output<typeof Source>;

export const Sources = z
  .array(Source)
  .max(mostSources, `a job has at most ${mostSources} sources`)
  .describe("Other repositories that the job reads, each in a separate directory.");
