import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";

/** A limit on how often a principal may do something within an hour, on all servers together. */
interface HourlyBound {
  readonly what: string;
  readonly who: string;
  readonly most: number;
}

const Counted = z.object({ count: z.number() });

/**
 * A table expression. It has one row when the limit allows one more, which is then counted; otherwise none. For
 * statements that do the counted action.
 */
export function countedOnce({ what, who, most }: HourlyBound): Sql {
  return sql`
    insert into hourly_count as known (what, who) values (${what}, ${who})
    on conflict (what, who) do update
    set since = case when ${isOver} then now() else known.since end,
        count = case when ${isOver} then 1 else known.count + 1 end
    where ${isOver} or known.count < ${most}
    returning count
  `;
}

const isOver: Sql = { text: "known.since <= now() - interval '1 hour'", values: [] };

/** Counts once; throws `resource_exhausted` when the limit is reached. */
export async function countOnce(tx: Tx, bound: HourlyBound): Promise<void> {
  if ((await tx.many(Counted, countedOnce(bound))).length === 0) throw tooOften(bound);
}

export function tooOften({ what, who, most }: HourlyBound): Fault {
  return new Fault(
    "resource_exhausted",
    `${who} has ${what} ${most} times within an hour, which is the limit`,
  );
}

/** Deletes counts of earlier hours. */
export async function deleteCounts(tx: Tx, before: Date): Promise<void> {
  await tx.run(sql`delete from hourly_count where since < ${before}`);
}
