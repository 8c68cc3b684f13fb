import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ExecutionId } from "#execution/execution.ts";

const Place = z.object({ repository: z.string(), branch: z.string() });

/**
 * Returns the places of the graphs that an execution serves: of the graph that requested it first, which is its
 * invocation, and of those whose runs and batches wait for it now.
 */
export function placesOfExecution(
  tx: Tx,
  id: ExecutionId,
  invocation: string,
): Promise<z.infer<typeof Place>[]> {
  const first = z.guid().safeParse(invocation).data ?? null;
  return tx.many(
    Place,
    sql`
      select distinct repository, branch from graph
      where id in (
        select ${first}::uuid
        union all
        select graph_id from run where execution_id = ${id} and state <> 'finished'
        union all
        select graph_id from work_batch
        where execution_id = ${id} and state in ('queued', 'running'))
      order by repository, branch
    `,
  );
}
