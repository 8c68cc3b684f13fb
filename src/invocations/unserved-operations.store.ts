import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "#execution/execution.ts";
import { OperationId } from "./operation.ts";

/** Returns the executions of operations that have been open since that time or longer, the longest first. */
export async function executionsRequestedBefore(
  tx: Tx,
  before: Date,
  most: number,
): Promise<ExecutionId[]> {
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      select execution_id as id from operation
      where outcome is null and requested_at <= ${before}
      group by execution_id order by min(requested_at) limit ${most}
    `,
  );
  return rows.map(({ id }) => id);
}

/**
 * Ends the open operations of executions that were requested before a time, and stores the reason for their clients.
 */
export function endUnservedOperations(
  tx: Tx,
  executions: readonly ExecutionId[],
  { now, before, because }: { readonly now: Date; readonly before: Date; readonly because: string },
): Promise<{ id: OperationId; executionId: ExecutionId }[]> {
  return tx.many(
    z.object({ id: OperationId, executionId: ExecutionId }),
    sql`
      with open as (
        select id from operation
        where execution_id = any(${executions}::uuid[]) and outcome is null
          and requested_at <= ${before}
        order by id for no key update
      )
      update operation
      set cancelled_at = ${now}, finished_at = ${now}, outcome = 'cancelled', ended_because = ${because}
      where id = any(array(select id from open))
      returning id, execution_id as "executionId"
    `,
  );
}

/** Returns why the farm itself ended an operation; undefined when it did not. */
export async function endedBecause(tx: Tx, id: OperationId): Promise<string | undefined> {
  const [row] = await tx.many(
    z.object({ because: z.string() }),
    sql`
      select ended_because as because from operation where id = ${id} and ended_because is not null
    `,
  );
  return row?.because;
}
