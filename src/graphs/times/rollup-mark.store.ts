import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";

/**
 * Until when we count, at most: what ends now may carry a time that is a little past, and commit a little later.
 *
 * What needs longer than this from its end to its commit is missing from the history, and nowhere else.
 */
const settledAfterMs = 10_000;

/** What lies between two counts. As text, since dates here have no microseconds: some would be counted twice. */
export interface Span {
  readonly after: string;
  readonly until: string;
}

const Mark = z.object({ until: z.string() });
const Batch = z.object({ until: z.string().nullable(), found: z.number() });

/**
 * Takes the right to count what ended since the last time; undefined when another server counts, or nothing is new.
 *
 * `ended` gives the times of what ended, as `at`; the batch is cut between two times.
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
