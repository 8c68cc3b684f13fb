import { type Sql, sql } from "#db/sql.ts";
import { greatestSizeClass } from "./is-served-by.ts";

/**
 * What `isServedBy` says, for the database, apart from the least size class: an index walks that.
 *
 * @param requirements Canonical JSON as text.
 * @param platform What a worker offers, as `jsonb`.
 */
export function servedBy(requirements: Sql, platform: Sql, sizeClass: Sql): Sql {
  return sql`(
    ${requirements}::jsonb - ${greatestSizeClass}::text <@ ${platform}
    and coalesce((${requirements}::jsonb ->> ${greatestSizeClass}::text)::integer >= ${sizeClass}, true))`;
}
