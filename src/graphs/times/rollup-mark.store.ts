import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";

/**
 * How far before now counting stops, in ms: a run that ends now may have a slightly earlier end time and commit
 * slightly later.
 *
 * A run that takes longer from its end to its commit is missing in the history, and nowhere else.
 */
const settledAfterMs = 10_000;

/**
 * The time between two counts. The times are text, because JavaScript dates have no microseconds: some runs would be
 * counted twice.
 */
export interface Span {
  readonly after: string;
  readonly until: string;
}

const Mark = z.object({ until: z.string() });
const Batch = z.object({ until: z.string().nullable(), found: z.number() });

/**
 * Takes the right to count the runs that ended since the last count; undefined when another server counts, or nothing
 * is new.
 *
 * `ended` selects the end times, as `at`; a batch ends between two times.
 */
export async function spanToCount(
  tx: Tx,
  name: "runs" | "graphs",
  now: Date,
  most: number,
  ended: (after: string, until: Date) => Sql,
): Promise<Span | undefined> {
  const [mark] = await tx.many(
    Mark,
    sql`select until::text as until from rollup_mark where name = ${name} for update skip locked`,
  );
  if (mark === undefined) return undefined;
  const settled = new Date(now.getTime() - settledAfterMs);
  const [batch] = await tx.many(
    Batch,
    sql`
      select max(at)::text as until, count(*) as found
      from (
        select at from (${ended(mark.until, settled)}) as ended
        order by at fetch first ${most} rows with ties
      ) as batch
    `,
  );
  if (batch === undefined || batch.until === null) return undefined;
  return { after: mark.until, until: batch.until };
}

export async function moveMark(tx: Tx, name: "runs" | "graphs", { until }: Span): Promise<void> {
  await tx.run(sql`update rollup_mark set until = ${until}::timestamptz where name = ${name}`);
}
