import { z } from "zod";
import { CommitId, EnvironmentName } from "#api/granary.ts";
import { indexLimits } from "#commit-index/index-limits.ts";

const ShortText = z.string().max(1_024);

/** What a build says of itself when it starts; kept with what it asks for, so that a crash loses neither. */
export const BuildFacts = z.object({
  project: z.string().min(1).max(200),
  /** Its name in the farm; "" where the project has one only. */
  repository: z.string().max(200).default(""),
  /** The commit that it builds, then its first parents, the nearest first; none: a repository without commits. */
  commits: z.array(CommitId).max(indexLimits.commits),
  /** The Git tree of the commit; "" without one. */
  tree: z.string().max(64),
  branch: z.string().max(255),
  /** Whether there are changes that the commit does not have. Nothing is then indexed under it. */
  dirty: z.boolean(),
  /** What changed since the commit; undefined: nobody knows. */
  dirtyPaths: z.array(z.string().max(4_096)).max(10_000).optional(),
  /** Where it is built, for asking Git what changed since an ancestor. */
  root: z.string().max(4_096).optional(),
  environment: EnvironmentName,
  machine: z.string().max(200),
  command: ShortText,
  targets: z.array(ShortText).max(1_000).default([]),
  /** Whether anything is to be fetched ahead. */
  prefetch: z.boolean().default(true),
});
export type BuildFacts = z.infer<typeof BuildFacts>;

/**
 * Who else may know a build's commit better than the workspace does: Turborepo names it with each upload. What
 * it says counts only where the workspace said nothing.
 */
export function withCommitFrom(
  facts: BuildFacts,
  told: { commit: string; dirty: boolean },
): BuildFacts {
  if (facts.commits.length > 0 || !CommitId.safeParse(told.commit).success) return facts;
  return { ...facts, commits: [told.commit], dirty: told.dirty };
}

/** Whether what the build asks for may be indexed under its commit. */
export function isIndexed(facts: BuildFacts): boolean {
  return !facts.dirty && facts.commits.length > 0;
}
