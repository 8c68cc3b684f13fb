import type { PlacePatterns } from "#core/place-patterns.ts";
import { type Sql, sql } from "./sql.ts";

/**
 * Returns the condition that a row lies in one of the places. `branch` is empty for rows of projects.
 *
 * Most grants are for all branches of a repository. For these the condition compares the repository alone: PostgreSQL
 * estimates how many rows that leaves, and the list keeps the order of its index. The names of the subquery's columns
 * are those of no table: an unqualified column of the row would otherwise mean them, and the condition would always hold.
 */
export function inPlaces(
  { everywhere, patterns }: PlacePatterns,
  repository: Sql,
  branch: Sql = sql`''`,
): Sql {
  if (everywhere) return sql`true`;
  const ofAllBranches = patterns.filter((pattern) => /^\*+$/.test(pattern.branch));
  const named = ofAllBranches.filter((pattern) => !pattern.repository.includes("*"));
  const matched = ofAllBranches.filter((pattern) => pattern.repository.includes("*"));
  const others = patterns.filter((pattern) => !ofAllBranches.includes(pattern));
  const conditions = [
    ...(named.length === 0
      ? []
      : [sql`${repository} = any(${named.map((pattern) => pattern.repository)}::text[])`]),
    ...(matched.length === 0
      ? []
      : [
          sql`${repository} like any(${matched.map((pattern) => likePattern(pattern.repository))}::text[])`,
        ]),
    ...(others.length === 0 ? [] : [onBranches(others, repository, branch)]),
  ];
  if (conditions.length === 0) return sql`false`;
  return sql`(${conditions.reduce((either, or) => sql`${either} or ${or}`)})`;
}

function onBranches(patterns: PlacePatterns["patterns"], repository: Sql, branch: Sql): Sql {
  const repositories = patterns.map((pattern) => likePattern(pattern.repository));
  const branches = patterns.map((pattern) => likePattern(pattern.branch));
  return sql`exists (
    select from unnest(${repositories}::text[], ${branches}::text[]) as allowed (in_repository, on_branch)
    where ${repository} like in_repository and ${branch} like on_branch)`;
}

/** Returns the condition that some branch of a repository is in one of the places. */
export function hasSomePlace({ everywhere, patterns }: PlacePatterns, repository: Sql): Sql {
  if (everywhere) return sql`true`;
  const repositories = patterns.map((pattern) => likePattern(pattern.repository));
  return sql`${repository} like any(${repositories}::text[])`;
}

/** Returns the pattern of LIKE that matches the same names as a pattern with `*`. */
function likePattern(pattern: string): string {
  return pattern.replaceAll(/[\\%_]/g, "\\$&").replaceAll("*", "%");
}
