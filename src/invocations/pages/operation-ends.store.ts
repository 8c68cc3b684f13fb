import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { FinishedExecution } from "#execution/finishing/finished-execution.ts";

/**
 * Stores the outcomes of the operations that executions served.
 *
 * Called in the transaction that ends the executions. So an operation without an outcome has a running execution, and
 * the outcome is still known after the execution is deleted.
 */
export async function noteOperationEnds(
  tx: Tx,
  finished: readonly FinishedExecution[],
): Promise<void> {
  if (finished.length === 0) return;
  await tx.run(sql`
    with open as (
      -- In the order of all who lock several, so that nobody waits in a circle.
      select operation.id from operation
      where execution_id = any(${finished.map(({ id }) => id)}::uuid[]) and outcome is null
      order by operation.id for no key update
    )
    update operation
    set finished_at = ended.at, outcome = ended.outcome, exit_code = ended.exit_code,
      worker = ended.worker
    from unnest(
      ${finished.map(({ id }) => id)}::uuid[],
      ${finished.map(({ finishedAt }) => finishedAt)}::timestamptz[],
      ${finished.map(({ outcome }) => outcome)}::text[],
      ${finished.map(({ exitCode }) => exitCode ?? null)}::integer[],
      ${finished.map(({ worker }) => worker ?? null)}::text[]
    ) as ended (id, at, outcome, exit_code, worker)
    where operation.id = any(array(select id from open)) and operation.execution_id = ended.id
  `);
}
