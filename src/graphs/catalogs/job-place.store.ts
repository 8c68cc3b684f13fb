import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";

const JobPlace = z.object({ job: z.string(), file: z.string(), line: z.number().int() });

/**
 * Returns where a graph's commit defines these jobs. For a job of an expression, the place of the expression, if there
 * is only one. Jobs whose definitions are not the commit's own are left out.
 */
export async function placesOf(
  tx: Tx,
  id: GraphId,
  jobs: readonly string[],
): Promise<ReadonlyMap<string, { readonly file: string; readonly line: number }>> {
  const rows = await tx.many(
    JobPlace,
    sql`
      with source as materialized (
        select source.places
        from graph join catalog_source as source
          on source.repository = graph.repository and source.tree = graph.definitions_tree
        where graph.id = ${id} and source.places is not null
      ), named as (
        select key as job, value as place from source, jsonb_each(source.places -> 'jobs')
        where key = any(${jobs}::text[])
      ), made as (
        select wanted.job, source.places -> 'expressions' -> 0 as place
        from source, unnest(${jobs}::text[]) as wanted (job)
        where jsonb_array_length(source.places -> 'expressions') = 1
          and wanted.job not in (select job from named)
      )
      select job, place ->> 0 as file, (place ->> 1)::int as line
      from (select job, place from named union all select job, place from made) as placed
    `,
  );
  return new Map(rows.map(({ job, ...place }) => [job, place]));
}
