import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";
import { notifyQueue } from "../notify.store.ts";
import { boundedRequirements } from "../sizing/resize-held.store.ts";

const perTurn = 100;

const Due = z.object({
  id: ExecutionId,
  requirements: z.string(),
  mostSizeClass: z.number().nullable(),
  sizeClass: z.number(),
  ranOn: z.number(),
});

/** A second run and its original execution. */
export interface Hedge {
  readonly original: ExecutionId;
  readonly hedge: ExecutionId;
}
const HedgeRow = z.object({ original: ExecutionId, hedge: ExecutionId });
const BegunRow = HedgeRow.extend({ sizeClass: z.number() });
export type BegunHedge = z.infer<typeof BegunRow>;

/** Returns whether there are second runs to manage: one lookup for a farm without second runs. */
export async function hasOpenHedges(tx: Tx, now: Date): Promise<boolean> {
  const [found] = await tx.many(
    z.object({ any: z.boolean() }),
    sql`
      select exists (select from execution where hedge_is_open)
        or exists (
          select from execution
          where state = 'leased' and hedge_after_ms is not null
            and started_at + hedge_after_ms * interval '1 millisecond' <= ${now}) as any
    `,
  );
  return found?.any ?? false;
}

/**
 * Queues a second run for each execution that runs longer than its estimate allows.
 *
 * The second run executes the same action on a greater class, separately: it cannot be joined, and only the original
 * keeps it. An execution that already ran on a greater class gets none. Rows that another server has locked are
 * skipped.
 */
export async function beginHedges(tx: Tx, now: Date): Promise<BegunHedge[]> {
  const due = await tx.many(
    Due,
    sql`
      select id, requirements, most_size_class as "mostSizeClass", hedge_size_class as "sizeClass",
        coalesce((select worker.size_class from worker
          where worker.name = execution.worker
            and worker.instance_id = execution.worker_instance), size_class) as "ranOn"
      from execution
      where state = 'leased' and hedge_after_ms is not null and cancel_requested_at is null
        and started_at + hedge_after_ms * interval '1 millisecond' <= ${now}
      order by started_at limit ${perTurn}
      for update of execution skip locked
    `,
  );
  if (due.length === 0) return [];
  const rows = due
    .filter(({ ranOn, sizeClass }) => ranOn < sizeClass)
    .map((each) => ({
      id: randomUUID(),
      original: each.id,
      requirements: boundedRequirements(each, { sizeClass: each.sizeClass, isExact: false }),
    }));
  const begun = await tx.many(
    BegunRow,
    sql`
      with wanted as (
        select * from json_to_recordset(${JSON.stringify(rows)}::json)
          as wanted (id uuid, original uuid, requirements text)
      ),
      noted as (
        update execution set hedge_after_ms = null, hedge_size_class = null
        where id = any(${due.map(({ id }) => id)}::uuid[])
      )
      insert into execution (
        id, project, domain, action_digest, requirements, size_class, least_size_class,
        most_size_class, invocation, owner, owner_lane, kin, lane, place, priority, timeout_ms,
        asked_timeout_ms, expected_duration_ms, do_not_cache, queued_at, title, hedge_of, hedge_is_open)
      select wanted.id, project, domain, action_digest, wanted.requirements, hedge_size_class,
        hedge_size_class, most_size_class, invocation, owner, owner_lane, kin, lane, place, priority,
        coalesce(asked_timeout_ms, timeout_ms), coalesce(asked_timeout_ms, timeout_ms),
        expected_duration_ms, true, ${now}, title, execution.id, true
      from execution join wanted on wanted.original = execution.id
      on conflict do nothing
      returning hedge_of as original, id as hedge, size_class as "sizeClass"
    `,
  );
  if (begun.length > 0) await notifyQueue(tx);
  return begun;
}

/** Returns second runs that succeeded and whose result was not used yet. */
export function wonHedges(tx: Tx): Promise<Hedge[]> {
  return tx.many(
    HedgeRow,
    sql`
      select hedge.hedge_of as original, hedge.id as hedge
      from execution as hedge
      where hedge.hedge_is_open and hedge.state = 'finished' and hedge.outcome = 'succeeded'
      limit ${perTurn}
    `,
  );
}

/** Returns second runs that must be ended because the original has ended or is being cancelled. */
export async function needlessHedges(tx: Tx): Promise<ExecutionId[]> {
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      select hedge.id from execution as hedge join execution as original on original.id = hedge.hedge_of
      where hedge.hedge_is_open and hedge.state <> 'finished' and hedge.cancel_requested_at is null
        and (original.state = 'finished' or original.cancel_requested_at is not null)
      limit ${perTurn}
    `,
  );
  return rows.map(({ id }) => id);
}

/** Closes second runs that failed or ended too late, so that they are not checked again. */
export async function closeHedges(tx: Tx): Promise<void> {
  await tx.run(sql`
    with over as (
      select hedge.id from execution as hedge join execution as original on original.id = hedge.hedge_of
      where hedge.hedge_is_open and hedge.state = 'finished'
        and (hedge.outcome <> 'succeeded' or original.state = 'finished')
      order by hedge.id limit ${perTurn}
      for update of hedge skip locked
    )
    update execution set hedge_is_open = false where id = any(array(select id from over))
  `);
}

/**
 * Gives the original execution the lease of its second run, so that it ends with the result of the second run.
 *
 * The log is also transferred. Returns the lease; undefined when the original is finished or to be cancelled. The
 * worker of the original learns from its next heartbeat that it has lost the lease.
 */
export async function takeOverLease(
  tx: Tx,
  { original, hedge }: Hedge,
  until: Date,
): Promise<{ readonly attempt: number; readonly epoch: number } | undefined> {
  const [lease] = await tx.many(
    z.object({ attempt: z.number(), epoch: z.number() }),
    sql`
      update execution as original
      set state = 'leased', attempt = original.attempt + 1, epoch = original.epoch + 1,
          worker = hedge.worker, worker_instance = hedge.worker_instance, leased_at = hedge.leased_at,
          started_at = hedge.started_at, leased_until = ${until}, timeout_ms = hedge.timeout_ms,
          hedge_after_ms = null, hedge_size_class = null
      from execution as hedge
      where original.id = ${original} and hedge.id = ${hedge}
        and original.state <> 'finished' and original.cancel_requested_at is null
      returning original.attempt, original.epoch
    `,
  );
  if (lease === undefined) return undefined;
  await tx.run(sql`
    insert into log_chunk (execution_id, attempt, byte_offset, bytes)
    select ${original}, ${lease.attempt}, byte_offset, bytes
    from log_chunk join execution on execution.id = log_chunk.execution_id
    where log_chunk.execution_id = ${hedge} and log_chunk.attempt = execution.attempt
  `);
  return lease;
}
