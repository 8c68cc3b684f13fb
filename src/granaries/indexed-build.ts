import { z } from "zod";
import { CommitId, EnvironmentName } from "#api/granary.ts";
import { indexLimits } from "#commit-index/index-limits.ts";
import { Fault } from "#core/fault.ts";
import { isKeepable } from "#core/keepable-text.ts";

const Text = (most: number) => z.string().max(most).refine(isKeepable, "text without NUL");

/** The build that an index belongs to. */
export const IndexedBuild = z.object({
  project: z.string(),
  repository: Text(200),
  /** Its commit, then its first parents, the nearest first; empty when unknown. */
  commits: z.array(CommitId).max(indexLimits.commits),
  tree: z.union([z.literal(""), CommitId]),
  branch: Text(255),
  environment: EnvironmentName,
});
export type IndexedBuild = z.infer<typeof IndexedBuild>;

/** Throws `invalid_argument` with the problem. */
export function indexedBuildOf(described: z.input<typeof IndexedBuild>): IndexedBuild {
  const build = IndexedBuild.safeParse(described);
  if (build.success) return build.data;
  throw new Fault("invalid_argument", `invalid build: ${z.prettifyError(build.error)}`);
}
