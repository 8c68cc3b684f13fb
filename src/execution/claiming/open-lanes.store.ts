import { type Sql, sql } from "#db/sql.ts";

/**
 * Returns the first execution of every open lane, for each size class and each set of requirements that is `served`.
 *
 * Common table expressions for a `with recursive`; they provide `open_lane (requirements, size_class, lane, owner_lane,
 * id, place, priority, queued_at, akin)`. The cost depends on the distinct requirements in the queue and their lanes,
 * about 10 µs each, independent of the number of waiting executions: both are found by skipping along the index, one
 * lookup for each.
 */
export function openLanes(
  /** A condition on `requirements`, canonical JSON as text. */
  served: Sql,
  /** The greatest size class to include. */
  sizeClass: number,
): Sql {
  return sql`
    asked as (
      (select requirements from execution where state = 'queued' order by requirements limit 1)
      union all
      select (
        select execution.requirements from execution
        where state = 'queued' and execution.requirements > asked.requirements
        order by execution.requirements limit 1
      )
      from asked
      where asked.requirements is not null
    ),
    served as (
      select requirements from asked where requirements is not null and ${served}
    ),
    open_lane as (
      select served.requirements, head.*
      from served cross join lateral (
        select size_class, lane, owner_lane, id, place, priority, queued_at, kin[1] as akin from execution
        where state = 'queued' and execution.requirements = served.requirements
          and size_class <= ${sizeClass}
        order by size_class, lane, place limit 1
      ) as head
      union all
      select open_lane.requirements, head.*
      from open_lane cross join lateral (
        select size_class, lane, owner_lane, id, place, priority, queued_at, kin[1] as akin from execution
        where state = 'queued' and execution.requirements = open_lane.requirements
          and (execution.size_class, execution.lane) > (open_lane.size_class, open_lane.lane)
          and execution.size_class <= ${sizeClass}
        order by size_class, lane, place limit 1
      ) as head
    )
  `;
}
