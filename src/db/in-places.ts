import type { PlacePatterns } from "#core/place-patterns.ts";
import { type Sql, sql } from "./sql.ts";

/**
 * Returns the condition that a row lies in one of the places. `branch` is empty for rows of projects.
 *
 * The names of the subquery's columns are those of no table: an unqualified column of the row would otherwise mean
 * them, and the condition would always hold.
 */
export function inPlaces(
  { everywhere, patterns }: PlacePatterns,
  repository: Sql,
  branch: Sql = sql`''`,
): Sql {
  if (everywhere) return sql`true`;
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
