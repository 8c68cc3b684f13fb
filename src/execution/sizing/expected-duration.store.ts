import { z } from "zod";
import type { Db, Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { backgroundOwner } from "./background-owner.ts";

/** An execution that ends now may have a slightly earlier end time and commit slightly later. */
const settledAfterMs = 5_000;
const executionsPerTurn = 5_000;
/** The newest has at least this weight, so that a change shows after a few executions. */
const leastWeight = 0.2;

/** A similarity key in a project. */
export interface SimilarityKey {
  readonly project: string;
  readonly similarityKey: string;
}

/** Returns how long executions of these similarity keys take, in ms; unknown keys are left out. */
export function meanDurations(
  tx: Tx,
  keys: readonly SimilarityKey[],
): Promise<(SimilarityKey & { readonly meanMs: number })[]> {
  return tx.many(
    z.object({ project: z.string(), similarityKey: z.string(), meanMs: z.number() }),
    sql`
      select project, kin as "similarityKey", mean_ms as "meanMs"
      from expected_duration
      join unnest(
        ${keys.map(({ project }) => project)}::text[], ${keys.map(({ similarityKey }) => similarityKey)}::text[]
      ) as asked (project, kin) using (project, kin)
    `,
  );
}

/**
 * Counts the executions that ended since the last call.
 *
 * Returns false when none is left, or another server is counting. Only successes count: a failure is usually shorter,
 * and a timeout only shows the limit.
 */
export function countDurations(db: Db, now: Date): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [mark] = await tx.many(
      z.object({ until: z.string() }),
      sql`select counted_until::text as until from expected_duration_mark for update skip locked`,
    );
    if (mark === undefined) return false;
    const settled = new Date(now.getTime() - settledAfterMs);
    const [batch] = await tx.many(
      z.object({ until: z.string().nullable() }),
      sql`
        select max(at)::text as until
        from (
          select finished_at as at from execution
          where state = 'finished' and finished_at > ${mark.until}::timestamptz
            and finished_at <= ${settled}
          order by finished_at fetch first ${executionsPerTurn} rows with ties
        ) as batch
      `,
    );
    if (batch === undefined || batch.until === null) return false;
    await countSpan(tx, mark.until, batch.until);
    await tx.run(
      sql`update expected_duration_mark set counted_until = ${batch.until}::timestamptz`,
    );
    return true;
  });
}

/** Several executions of one key in a span count as their mean, with the weight of their number. */
async function countSpan(tx: Tx, after: string, until: string): Promise<void> {
  await tx.run(sql`
    with news as (
      select project, each as kin, count(*)::integer as samples, max(finished_at) as seen,
        avg(extract(epoch from finished_at - started_at) * 1000)::double precision as mean_ms
      from execution cross join lateral unnest(kin) as each
      where state = 'finished' and outcome = 'succeeded' and started_at <= finished_at
        -- A second run counts with the first; one that only teaches is on a class that nobody chose.
        and hedge_of is null and owner <> ${backgroundOwner}
        and finished_at > ${after}::timestamptz and finished_at <= ${until}::timestamptz
      group by project, each
    )
    insert into expected_duration as known (project, kin, mean_ms, samples, last_seen_at)
    select project, kin, mean_ms, samples, seen from news order by project, kin
    on conflict (project, kin) do update
    set mean_ms = known.mean_ms + (excluded.mean_ms - known.mean_ms) * greatest(
          1 - power(${1 - leastWeight}::double precision, excluded.samples),
          excluded.samples::double precision / (known.samples + excluded.samples)),
        samples = known.samples + excluded.samples,
        last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)
  `);
}

/** Deletes keys without an ended execution since this time. */
export function forgetDurations(db: Db, seenBefore: Date): Promise<number> {
  return db.run(sql`delete from expected_duration where last_seen_at < ${seenBefore}`);
}
