import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "../graph-id.ts";

const CatalogsRow = z.object({
  catalog: z.string(),
  templateCatalog: z.string().nullable(),
  /** The parent graph: a signed definition of one of its jobs contains these definitions. */
  within: GraphId.nullable(),
});

/**
 * Returns the accepted digests of a graph, one of which must be signed: its definitions, their templates, or the graph
 * that contains them.
 */
export async function catalogsOfGraph(
  tx: Tx,
  graphId: GraphId,
): Promise<z.infer<typeof CatalogsRow> | undefined> {
  const [row] = await tx.many(
    CatalogsRow,
    sql`
      select graph.catalog, graph.template_catalog as "templateCatalog",
             case when definition.body ?| array['definitions', 'catalog'] then graph.parent_id end as within
      from graph
      left join job on graph.parent_kind = 'subgraph'
        and job.graph_id = graph.parent_id and job.name = graph.parent_job
      left join definition on definition.digest = job.definition
      where graph.id = ${graphId}
    `,
  );
  return row;
}

/** Returns which of these jobs were customised, by name. */
export async function customisedAmong(
  tx: Tx,
  graphId: GraphId,
  jobs: readonly string[],
): Promise<string[]> {
  const rows = await tx.many(
    z.object({ name: z.string() }),
    sql`
      select name from job
      where graph_id = ${graphId} and name = any(${jobs}::text[]) and patch is not null
      order by name
    `,
  );
  return rows.map(({ name }) => name);
}
