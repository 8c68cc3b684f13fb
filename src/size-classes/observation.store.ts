import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "#execution/execution.ts";

/** Records, in the transaction that ends them, that executions have observations. */
export async function noteObservations(tx: Tx, ids: readonly ExecutionId[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.run(sql`
    insert into size_class_lesson (execution_id) select unnest(${ids}::uuid[]) on conflict do nothing
  `);
}

/** An arbitrary number; the same for all servers of a database. */
const learningLock = 4_027_001;

/**
 * Takes and removes observations; returns undefined while another server adds them.
 *
 * One server at a time: histories are read, changed and written back, and no addition may be lost.
 */
export async function takeObservations(tx: Tx, most: number): Promise<ExecutionId[] | undefined> {
  const [lock] = await tx.many(
    z.object({ isOurs: z.boolean() }),
    sql`select pg_try_advisory_xact_lock(${learningLock}) as "isOurs"`,
  );
  if (lock?.isOurs !== true) return undefined;
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      delete from size_class_lesson
      where execution_id = any(array(select execution_id from size_class_lesson limit ${most}))
      returning execution_id as id
    `,
  );
  return rows.map(({ id }) => id);
}

/** Drops observations that cannot be learned. */
export async function dropObservations(tx: Tx, ids: readonly ExecutionId[]): Promise<void> {
  await tx.run(sql`delete from size_class_lesson where execution_id = any(${ids}::uuid[])`);
}
