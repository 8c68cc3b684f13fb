import { z } from "zod";
import { CacheUseKind } from "#api/cache-use.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { sql } from "#db/sql.ts";

/** The requests of one kind in one project and hour. */
interface CountedUse {
  readonly project: string;
  readonly kind: string;
  /** The beginning of the hour. */
  readonly hour: Date;
  readonly hits: number;
  readonly misses: number;
}

/** Adds counts. A call may contain each hour, kind and project at most once. */
export async function addCacheUse(tx: Tx, counted: readonly CountedUse[]): Promise<void> {
  await tx.run(sql`
    insert into cache_use as known (project, kind, hour, hits, misses)
    select project, kind, hour, hits, misses
    from unnest(
      ${counted.map(({ project }) => project)}::text[],
      ${counted.map(({ kind }) => kind)}::text[],
      ${counted.map(({ hour }) => hour)}::timestamptz[],
      ${counted.map(({ hits }) => hits)}::bigint[],
      ${counted.map(({ misses }) => misses)}::bigint[]
    ) as given (project, kind, hour, hits, misses)
    -- Two servers that add to the same rows lock them in one order.
    order by hour, kind, project
    on conflict (hour, kind, project) do update
    set hits = known.hits + excluded.hits, misses = known.misses + excluded.misses
  `);
}

const UsedCache = z.object({
  project: z.string(),
  kind: CacheUseKind,
  at: z.date(),
  hits: z.number(),
  misses: z.number(),
});
/** The requests of one kind in one project and period, which begins at `at`. */
type UsedCache = z.infer<typeof UsedCache>;

/**
 * Returns the counts since a time, in periods of `periodSeconds`, which begin at multiples of it in UTC.
 *
 * @param places only projects at these places
 */
export function cacheUseSince(
  tx: Tx,
  { since, periodSeconds, places }: CacheUsePeriod,
): Promise<UsedCache[]> {
  return tx.many(
    UsedCache,
    sql`
      select project, kind, date_bin(make_interval(secs => ${periodSeconds}), hour, 'epoch') as at,
        sum(hits)::bigint as hits, sum(misses)::bigint as misses
      from cache_use
      where hour >= ${since} and ${inPlaces(places, sql`project`)}
      group by 1, 2, 3
    `,
  );
}

interface CacheUsePeriod {
  readonly since: Date;
  readonly periodSeconds: number;
  readonly places: PlacePatterns;
}

/** Deletes the counts of hours before a time. */
export function forgetCacheUse(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`delete from cache_use where hour < ${before}`);
}
