import { z } from "zod";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { sql } from "#db/sql.ts";

/** Older runs of the period are not read: a page must not read millions. */
const mostRuns = 200_000;

const JobCacheUse = z.object({
  repository: z.string(),
  at: z.date(),
  hits: z.number(),
  misses: z.number(),
});

/**
 * Returns how many runs of jobs got their result from the cache, and how many were executed, by repository and period.
 * Periods begin at multiples of their length in UTC.
 *
 * @param places only graphs at these places
 */
export function jobCacheUse(
  tx: Tx,
  wanted: {
    readonly since: Date;
    readonly periodSeconds: number;
    readonly places: PlacePatterns;
  },
): Promise<z.infer<typeof JobCacheUse>[]> {
  const { since, periodSeconds, places } = wanted;
  return tx.many(
    JobCacheUse,
    sql`
      with ended as materialized (
        select graph_id, cached, finished_at from run
        where state = 'finished' and finished_at >= ${since} and action_digest is not null
          and (cached or started_at is not null)
        order by finished_at desc limit ${mostRuns}
      )
      select graph.repository, date_bin(make_interval(secs => ${periodSeconds}), ended.finished_at, 'epoch') as at,
        (count(*) filter (where ended.cached))::integer as hits,
        (count(*) filter (where not ended.cached))::integer as misses
      from ended join graph on graph.id = ended.graph_id
      where ${inPlaces(places, sql`graph.repository`, sql`graph.branch`)}
      group by 1, 2
    `,
  );
}
