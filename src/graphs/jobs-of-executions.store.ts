import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Guid = z.guid();

/**
 * Returns the jobs for which graphs had executions made, over or not.
 *
 * @param wanted executions, each with the graph that requested it first; others are ignored
 */
export async function jobsOfExecutions(
  tx: Tx,
  wanted: readonly { readonly execution: string; readonly graph: string }[],
): Promise<ReadonlyMap<string, string>> {
  const graphs = new Set(wanted.map(({ graph }) => graph));
  for (const graph of graphs) if (!Guid.safeParse(graph).success) graphs.delete(graph);
  const known = wanted.filter(({ graph }) => graphs.has(graph));
  if (known.length === 0) return new Map();
  const rows = await tx.many(
    z.object({ execution: z.string(), job: z.string() }),
    sql`
      select run.execution_id as execution, run.job
      from run join unnest(${known.map(({ execution }) => execution)}::uuid[]) as wanted (id)
        on wanted.id = run.execution_id
      where run.graph_id = any(${[...graphs]}::uuid[])
    `,
  );
  return new Map(rows.map(({ execution, job }) => [execution, job]));
}
