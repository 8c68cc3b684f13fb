import { z } from "zod";
import { CommitId, EnvironmentName } from "#api/granary.ts";
import { indexLimits } from "#commit-index/index-limits.ts";

const ShortText = z.string().max(1_024);

/** The state of one repository whose sources a build reads. */
const RepositoryState = {
  /** The repository's name at the farm; "" if the project has only one. */
  repository: z.string().max(200).default(""),
  /** The commit that is built, then its first parents, nearest first. Empty for a repository without commits. */
  commits: z.array(CommitId).max(indexLimits.commits),
  /** The Git tree of the commit; "" without one. */
  tree: z.string().max(64),
  branch: z.string().max(255),
  /** Whether the working tree has changes. Nothing is then indexed under the commit. */
  dirty: z.boolean(),
  /** The paths that changed since the commit; undefined if unknown. */
  dirtyPaths: z.array(z.string().max(4_096)).max(10_000).optional(),
  /** The root of the working tree, in which Git can compare it with an ancestor. */
  root: z.string().max(4_096).optional(),
};

/** The limit for repositories within the one that is built. */
export const mostNested = 63;

export const NestedRepository = z.object({ ...RepositoryState, root: z.string().max(4_096) });
/** A repository whose working tree is inside that of the repository that is built, such as a vendored library. */
export type NestedRepository = z.infer<typeof NestedRepository>;

/** The facts that a build reports about itself at its start. Stored in its access log, so that both survive a crash. */
export const BuildFacts = z.object({
  project: z.string().min(1).max(200),
  ...RepositoryState,
  /** The results that belong to one of these are also indexed under its commit. A result names it by its position, from 1. */
  nested: z.array(NestedRepository).max(mostNested).optional(),
  environment: EnvironmentName,
  machine: z.string().max(200),
  command: ShortText,
  targets: z.array(ShortText).max(1_000).default([]),
  /** Whether to prefetch. */
  prefetch: z.boolean().default(true),
});
export type BuildFacts = z.infer<typeof BuildFacts>;

/**
 * Returns the facts with the commit that a tool reports (Turborepo does with each upload). It counts
 * only if the workspace has no commit.
 */
export function withCommitFrom(
  facts: BuildFacts,
  reported: { commit: string; dirty: boolean },
): BuildFacts {
  if (facts.commits.length > 0 || !CommitId.safeParse(reported.commit).success) return facts;
  return { ...facts, commits: [reported.commit], dirty: reported.dirty };
}

/**
 * Returns the facts of a build for each of its repositories, each as if it were the only one: first those of the
 * repository that is built, then the nested ones.
 */
export function eachRepository({ nested = [], ...outer }: BuildFacts): BuildFacts[] {
  return [outer, ...nested.map((state) => ({ ...outer, dirtyPaths: undefined, ...state }))];
}

/** Returns whether the build's requests may be indexed under its commit. */
export function isIndexed(facts: BuildFacts): boolean {
  return !facts.dirty && facts.commits.length > 0;
}
