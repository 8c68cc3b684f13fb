import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Figures = z
  .object({
    project: z.string(),
    local: z.number(),
    prefetched: z.number(),
    fetched: z.number(),
    missed: z.number(),
    unreachable: z.number(),
    saved_ms: z.number(),
    prefetched_bytes: z.number(),
    wasted_bytes: z.number(),
    lead_ms: z.number().nullable(),
  })
  .transform(({ project, saved_ms, prefetched_bytes, wasted_bytes, lead_ms, ...results }) => ({
    project,
    /** The requested results by their source. */
    results,
    savedMs: saved_ms,
    /** Everything that was prefetched, and the part that was never requested. */
    transferredBytes: prefetched_bytes,
    wastedBytes: wasted_bytes,
    /** For builds with prefetched results: the median of their medians. */
    leadMs: lead_ms,
  }));
type GranaryFigures = z.infer<typeof Figures>;

/** Returns the sources of results of builds behind granaries since a time, by project. */
export function granaryFigures(tx: Tx, since: Date): Promise<GranaryFigures[]> {
  return tx.many(
    Figures,
    sql`
      select project, sum(local)::bigint as local, sum(prefetched)::bigint as prefetched,
        sum(fetched)::bigint as fetched, sum(missed)::bigint as missed,
        sum(unreachable)::bigint as unreachable, sum(saved_ms)::bigint as saved_ms,
        sum(prefetched_bytes)::bigint as prefetched_bytes, sum(wasted_bytes)::bigint as wasted_bytes,
        percentile_disc(0.5) within group (order by lead_ms)::bigint as lead_ms
      from granary_build
      where ended_at >= ${since}
      group by project
      order by project
    `,
  );
}

const InQuarantine = z.object({ project: z.string(), count: z.number() });

/** How many results are in quarantine, by project. */
export function quarantineCounts(tx: Tx): Promise<z.infer<typeof InQuarantine>[]> {
  return tx.many(
    InQuarantine,
    sql`
      select project, count(*)::integer as count
      from quarantined_result
      where released_at is null
      group by project
      order by project
    `,
  );
}
