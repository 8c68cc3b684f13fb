import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";
import type { Lease, WorkerProcess } from "../leasing/lease.ts";

/** Records that a worker confirmed cancellations; returns the executions that were not confirmed before. */
export async function confirmCancellations(
  tx: Tx,
  { instanceId }: WorkerProcess,
  leases: readonly Lease[],
  now: Date,
): Promise<ExecutionId[]> {
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      with held as (
        select execution.id
        from execution join unnest(
          ${leases.map(({ executionId }) => executionId)}::uuid[], ${leases.map(({ attempt }) => attempt)}::integer[],
          ${leases.map(({ epoch }) => epoch)}::bigint[]
        ) as named (id, attempt, epoch) using (id, attempt, epoch)
        where state = 'leased' and worker_instance = ${instanceId}
          and cancel_requested_at is not null and cancel_confirmed_at is null
        order by execution.id
        for no key update of execution
      )
      update execution set cancel_confirmed_at = ${now}
      where id = any(array(select id from held))
      returning id
    `,
  );
  return rows.map(({ id }) => id);
}

const Cancelled = z.object({
  executionId: ExecutionId,
  attempt: z.number(),
  epoch: z.number(),
  instanceId: z.string(),
});
type Cancelled = z.infer<typeof Cancelled>;

/** Returns leases of these processes whose cancellation was requested but not confirmed. */
export function unconfirmedCancellations(
  tx: Tx,
  instances: readonly string[],
): Promise<Cancelled[]> {
  return tx.many(
    Cancelled,
    sql`
      select id as "executionId", attempt, epoch, worker_instance as "instanceId"
      from execution
      where state = 'leased' and cancel_requested_at is not null and cancel_confirmed_at is null
        and worker_instance = any(${instances}::text[])
      order by cancel_requested_at, id
    `,
  );
}

const Held = z.object({
  id: ExecutionId,
  /** For a second run: the execution that was requested. */
  of: ExecutionId,
  worker: z.string(),
});
export type HeldCancellation = z.infer<typeof Held>;

/** Returns the executions and second runs whose worker has not confirmed their requested cancellation. */
export function heldCancellations(
  tx: Tx,
  ids: readonly ExecutionId[],
): Promise<HeldCancellation[]> {
  return tx.many(
    Held,
    sql`
      select id, coalesce(hedge_of, id) as of, worker from execution
      where (id = any(${ids}::uuid[]) or hedge_of = any(${ids}::uuid[]))
        and state = 'leased' and cancel_requested_at is not null and cancel_confirmed_at is null
      order by id
    `,
  );
}
