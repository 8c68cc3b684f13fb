import { fenceProperty } from "#core/platform.ts";
import { type Sql, sql } from "#db/sql.ts";
import { greatestSizeClass } from "./is-served-by.ts";

/**
 * The condition of `isServedBy` in SQL, without the least size class, which is a column of an index.
 *
 * An invalid bound matches no worker, and does not break the claims of others.
 *
 * @param requirements Canonical JSON as text. @param platform The worker's offer, as `jsonb`.
 */
export function servedBy(requirements: Sql, platform: Sql, sizeClass: Sql): Sql {
  return sql`(
    ${requirements}::jsonb - ${greatestSizeClass}::text <@ ${platform}
    and ${isWithinFence(requirements, platform)}
    and case when ${requirements}::jsonb ->> ${greatestSizeClass}::text ~ '^[0-9]{1,7}$'
      then (${requirements}::jsonb ->> ${greatestSizeClass}::text)::integer >= ${sizeClass}
      else not ${requirements}::jsonb ? ${greatestSizeClass}::text end)`;
}

/** Returns a condition: the requirements contain all properties in the worker's fence (`fenceAround` in SQL). */
export function isWithinFence(requirements: Sql, platform: Sql): Sql {
  return sql`(
    not ${platform} ? ${fenceProperty}::text
    or ${requirements}::jsonb ?& string_to_array(${platform} ->> ${fenceProperty}::text, ','))`;
}
