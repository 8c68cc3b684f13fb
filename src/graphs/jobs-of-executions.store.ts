import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/**
 * Returns the jobs for which graphs had executions made, over or not.
 *
 * @param asked executions, each with the graph that asked for it first; others are ignored
 */
export async function jobsOfExecutions(
  tx: Tx,
  asked: readonly { readonly execution: string; readonly graph: string }[],
): Promise<ReadonlyMap<string, string>> {
  const known = asked.filter(({ graph }) => z.guid().safeParse(graph).success);
  const graphs = [...new Set(known.map(({ graph }) => graph))];
  const rows = await tx.many(
    z.object({ execution: z.string(), job: z.string() }),
    sql`
      select run.execution_id as execution, run.job
      from run join unnest(${known.map(({ execution }) => execution)}::uuid[]) as asked (id)
        on asked.id = run.execution_id
      where run.graph_id = any(${graphs}::uuid[])
    `,
  );
  return new Map(rows.map(({ execution, job }) => [execution, job]));
}
