import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** The first execution of a lane, among executions with the same requirements. */
export interface Head {
  readonly requirements: string;
  readonly sizeClass: number;
  readonly lane: number;
  readonly ownerLane: number;
  readonly place: number;
  readonly priority: number;
}

/** Executions of one lane with the same requirements, up to a place. */
export interface LanePrefix {
  readonly head: Head;
  /** Only earlier places. */
  readonly before: number;
  /**
   * Among executions at the same place, counts only rows before this one; none when absent.
   *
   * A graph's jobs often have one place. An index stores equal keys in the order of their rows, so claims use the same
   * order.
   */
  readonly beforeRow?: string;
  /** Counts no further. */
  readonly most: number;
}

/** Before all rows. */
const noRow = "(0,0)";

const Counted = z.object({ nth: z.number(), count: z.number(), same: z.number() });

/** Returns how many executions wait in each of the stretches, in their order; `same` are those of one invocation. */
export async function countInLanes(
  tx: Tx,
  stretches: readonly LanePrefix[],
  invocation?: string,
): Promise<z.infer<typeof Counted>[]> {
  if (stretches.length === 0) return [];
  // Without an invocation to compare with, the index alone answers.
  const same = invocation === undefined ? sql`false` : sql`invocation = ${invocation}`;
  return tx.many(
    Counted,
    sql`
      select nth, found.count, found.same
      from unnest(
        ${stretches.map(({ head }) => head.requirements)}::text[],
        ${stretches.map(({ head }) => head.sizeClass)}::integer[],
        ${stretches.map(({ head }) => head.lane)}::smallint[],
        ${stretches.map(({ before }) => before)}::bigint[],
        ${stretches.map(({ beforeRow }) => beforeRow ?? noRow)}::tid[],
        ${stretches.map(({ most }) => most)}::bigint[]
      ) with ordinality as asked (requirements, size_class, lane, before, before_row, most, nth)
      cross join lateral (
        select count(*) as count, count(*) filter (where waiting.same) as same
        from (
          select ${same} as same from execution
          where state = 'queued' and execution.requirements = asked.requirements collate "C"
            and execution.size_class = asked.size_class and execution.lane = asked.lane
            and place <= asked.before
            and (place < asked.before or execution.ctid < asked.before_row)
          order by place limit asked.most
        ) as waiting
      ) as found
      order by nth
    `,
  );
}
