import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";
import { type Lease, leaseKey, type WorkerProcess } from "./lease.ts";

const LeaseRow = z.object({ executionId: ExecutionId, attempt: z.number(), epoch: z.number() });
const ExtendedLease = LeaseRow.extend({ instanceId: z.string(), cancelRequested: z.boolean() });
type ExtendedLease = z.infer<typeof ExtendedLease>;

/** Locks the executions of leases until the transaction ends, in the fixed order of all code that locks several. */
export async function lockLeases(tx: Tx, leases: readonly Lease[]): Promise<void> {
  if (leases.length === 0) return;
  await tx.run(sql`
    select id from execution
    where id = any(${leases.map(({ executionId }) => executionId)}::uuid[]) and state = 'leased'
    order by id for no key update
  `);
}

/**
 * Extends the leases that their worker still holds; a lease that is not returned is lost.
 *
 * A lease that has expired is held until it is ended: a worker that was unreachable for longer than its lease continues
 * if no rescuer has ended the lease.
 */
export function extendLeases(
  tx: Tx,
  extensions: readonly {
    readonly lease: Lease;
    readonly worker: WorkerProcess;
    readonly until: Date;
  }[],
): Promise<ExtendedLease[]> {
  const leases = extensions.map(({ lease }) => lease);
  const instances = extensions.map(({ worker }) => worker.instanceId);
  const keys = extensions.map(({ lease, worker }) => `${leaseKey(lease)}/${worker.instanceId}`);
  return tx.many(
    ExtendedLease,
    sql`
      with beat as (${asTable(leases, instances)}),
      held as (
        -- One order for all who lock several, so that nobody waits in a circle.
        select execution.id
        from execution join beat on beat.id = execution.id
        where execution.id = any(${leases.map((lease) => lease.executionId)}::uuid[])
          and state = 'leased' and execution.attempt = beat.attempt and execution.epoch = beat.epoch
          and execution.worker_instance = beat.instance
        order by execution.id
        for no key update of execution
      )
      update execution
      set leased_until = greatest(
        leased_until,
        (${extensions.map(({ until }) => until.toISOString())}::text[])[
          array_position(${keys}::text[], concat_ws('/', id, attempt, epoch, worker_instance))]::timestamptz)
      where id = any(array(select id from held))
      returning id as "executionId", attempt, epoch, worker_instance as "instanceId",
        cancel_requested_at is not null as "cancelRequested"
    `,
  );
}

/**
 * Records that the processes have started. Returns the leases for which this was not recorded before.
 *
 * The long lease of a worker that requested one begins here and not at the assignment: otherwise, a machine that is
 * lost while its claim waits would keep an execution that it never got.
 */
export function markStarted(
  tx: Tx,
  started: readonly { readonly lease: Lease; readonly at: Date }[],
  now: Date,
): Promise<Lease[]> {
  return tx.many(
    LeaseRow,
    sql`
      with beat as (
        ${asTable(started.map(({ lease }) => lease))}
      ),
      held as (
        select execution.id
        from execution join beat on beat.id = execution.id
        where execution.id = any(${started.map(({ lease }) => lease.executionId)}::uuid[])
          and state = 'leased' and execution.attempt = beat.attempt and execution.epoch = beat.epoch
          and started_at is null
        order by execution.id
        for no key update of execution
      )
      update execution
      -- A worker's clock may be wrong; nothing starts before it was handed out, or later than it is told.
      set started_at = greatest(leased_at, (${started.map(({ at }) => (at < now ? at : now).toISOString())}::text[])[
            array_position(${started.map(({ lease }) => lease.executionId)}::uuid[], id)]::timestamptz),
          leased_until = greatest(leased_until, ${now}::timestamptz + interval '1 millisecond' * (
            select lease_ms from worker
            where worker.name = execution.worker and worker.instance_id = execution.worker_instance))
      where id = any(array(select id from held))
      returning id as "executionId", attempt, epoch
    `,
  );
}

/** Returns the leases that are still held. */
export function currentLeases(tx: Tx, leases: readonly Lease[]): Promise<Lease[]> {
  return tx.many(
    LeaseRow,
    sql`
      select execution.id as "executionId", execution.attempt, execution.epoch
      from execution join (${asTable(leases)}) as beat on beat.id = execution.id
      where execution.id = any(${leases.map((lease) => lease.executionId)}::uuid[])
        and state = 'leased' and execution.attempt = beat.attempt and execution.epoch = beat.epoch
    `,
  );
}

function asTable(leases: readonly Lease[], instances: readonly string[] = []) {
  return sql`
    select id, attempt, epoch, instance from unnest(
      ${leases.map((lease) => lease.executionId)}::uuid[],
      ${leases.map((lease) => lease.attempt)}::integer[],
      ${leases.map((lease) => lease.epoch)}::bigint[],
      ${instances}::text[]
    ) as named (id, attempt, epoch, instance)
  `;
}
