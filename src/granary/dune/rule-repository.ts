import { join, resolve, sep } from "node:path";
import type { DuneFile, DuneRepository } from "./dune-protocol.ts";

/** The repositories of a dune's sources. */
export interface DuneRepositories {
  /** The directories of all repositories in dune's order, which its rules refer to. */
  readonly all: readonly string[];
  /** Those of the nested ones, in the order of the build's facts. */
  readonly nested: readonly string[];
}

export const noRepositories: DuneRepositories = { all: [], nested: [] };

/** Returns the absolute directories of the repositories that dune reports for a build directory. */
export function repositoryRoots(
  buildDirectory: string,
  repositories: readonly DuneRepository[],
): string[] {
  const workspace = resolve(buildDirectory, "..");
  return repositories.map(({ directory }) => resolve(workspace, directory));
}

/**
 * Returns the nested repository that a rule belongs to, by its position from 1; 0: the one that is built.
 *
 * dune names the repository of a rule, or does not; then the first output decides, because a rule's outputs are where
 * its sources are: `_build/default/vendor/lib/a.cmx` is made of sources in `vendor/lib`.
 */
export function repositoryOfRule(
  { all, nested }: DuneRepositories,
  buildDirectory: string,
  rule: {
    readonly repository?: number | undefined;
    readonly files: readonly Pick<DuneFile, "path">[];
  },
): number {
  const named = rule.repository === undefined ? undefined : all[rule.repository];
  if (named !== undefined) return nested.indexOf(named) + 1;
  const path = rule.files[0]?.path;
  if (path === undefined) return 0;
  // The first part of the path is the name of the build's context.
  const source = join(resolve(buildDirectory, ".."), ...path.split("/").slice(1));
  const around = nested.filter((root) => source.startsWith(`${root}${sep}`));
  const innermost = around.toSorted((a, b) => b.length - a.length)[0];
  return innermost === undefined ? 0 : nested.indexOf(innermost) + 1;
}
