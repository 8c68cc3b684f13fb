import { z } from "zod";
import { digestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import { ExecutionId, type Outcome } from "../execution.ts";
import { HandedOutRow, handedOutColumns } from "../leasing/handed-out.store.ts";
import type { Lease, WorkerProcess } from "../leasing/lease.ts";
import type { FinishedExecution, Usage } from "./finished-execution.ts";

const LeaseRow = z.object({ executionId: ExecutionId, attempt: z.number(), epoch: z.number() });

const HeldRow = HandedOutRow.extend({
  startedAt: z.date().nullable(),
  cancelRequested: z.boolean(),
  /** Whether it has expired. */
  isOver: z.boolean(),
  /** The size class of its worker, which may be greater than the chosen one. */
  workerSizeClass: z.number(),
});
export type HeldRow = z.infer<typeof HeldRow>;

/**
 * How long after an execution's timeout its worker may need to end it, in ms.
 *
 * The worker uploads outputs in this time, perhaps gigabytes over a slow line, and sends heartbeats. This limit only
 * ends leases that a live worker has forgotten; a dead worker is detected by its missing heartbeats.
 */
const endingMs = 30 * 60_000;

/**
 * Returns a condition that a lease is over: it has expired, or its worker sends heartbeats but did not end the process
 * at its timeout.
 */
function isOver(now: Date): Sql {
  return sql`(
    leased_until <= ${now} or coalesce(
      started_at + (timeout_ms + ${endingMs}::bigint) * interval '1 millisecond' <= ${now}, false))`;
}

/** Locks the leased ones among the executions until the transaction ends. */
export function lockLeased(tx: Tx, ids: readonly ExecutionId[], now: Date): Promise<HeldRow[]> {
  return tx.many(
    HeldRow,
    sql`
      select ${handedOutColumns}, started_at as "startedAt",
        cancel_requested_at is not null as "cancelRequested", ${isOver(now)} as "isOver",
        -- A worker's row outlives what it holds; but it may be that of another process by now.
        coalesce((select worker.size_class from worker
          where worker.name = execution.worker
            and worker.instance_id = execution.worker_instance), size_class) as "workerSizeClass"
      from execution
      where id = any(${ids}::uuid[]) and state = 'leased'
      order by id
      for update
    `,
  );
}

/** A lease that a worker names, with that worker. */
export interface NamedLease {
  readonly lease: Lease;
  readonly by: WorkerProcess;
}

const RevivedLease = LeaseRow.extend({ worker: z.string(), hasStarted: z.boolean() });

/**
 * Restores leases, until a time, for workers that lost them and report them now, if no other worker got the execution
 * since: it is in the queue with the attempt and epoch of the lease. Its attempt then continues. Returns the leases
 * that are held again.
 *
 * Skips executions that another transaction has locked (SKIP LOCKED), because they are being handed out or cancelled.
 * So it never waits, and cannot deadlock with the locks that the caller holds.
 */
export async function reviveLostLeases(
  tx: Tx,
  named: readonly NamedLease[],
  until: Date,
): Promise<z.infer<typeof RevivedLease>[]> {
  if (named.length === 0) return [];
  return tx.many(
    RevivedLease,
    sql`
    with late as (
      select execution.id, execution.attempt, execution.epoch, late.worker, late.instance
      from execution join unnest(
        ${named.map(({ lease }) => lease.executionId)}::uuid[],
        ${named.map(({ lease }) => lease.attempt)}::integer[],
        ${named.map(({ lease }) => lease.epoch)}::bigint[],
        ${named.map(({ by }) => by.name)}::text[],
        ${named.map(({ by }) => by.instanceId)}::text[]
      ) as late (id, attempt, epoch, worker, instance) using (id, attempt, epoch)
      where execution.state = 'queued'
        -- Before the lock: a worker that never had the lease must not take the row from the one that had it.
        and exists (
          select from execution_attempt as had
          where had.execution_id = execution.id and had.attempt = execution.attempt
            and had.epoch = execution.epoch and had.worker = late.worker and had.outcome = 'worker_lost')
      order by execution.id
      for update of execution skip locked
    ),
    lost as (
      delete from execution_attempt using late
      where execution_id = late.id and execution_attempt.attempt = late.attempt
        and execution_attempt.epoch = late.epoch and execution_attempt.worker = late.worker and outcome = 'worker_lost'
      returning execution_id, late.attempt, late.epoch, late.worker, late.instance, leased_at, started_at,
        timeout_ms
    )
    update execution
    set state = 'leased', worker = lost.worker, worker_instance = lost.instance,
        leased_at = lost.leased_at, leased_until = ${until}, started_at = lost.started_at,
        timeout_ms = coalesce(lost.timeout_ms, execution.timeout_ms)
    from lost
    where execution.id = lost.execution_id and state = 'queued'
      and execution.attempt = lost.attempt and execution.epoch = lost.epoch
    returning execution.id as "executionId", execution.attempt, execution.epoch, execution.worker,
      execution.started_at is not null as "hasStarted"
  `,
  );
}

/**
 * Locks leased executions on the assumption that they are unchanged since their assignment: no start and no
 * cancellation was recorded. When one has changed, the transaction fails with `aborted`.
 */
export async function assumeHeld(tx: Tx, rows: readonly HandedOutRow[]): Promise<void> {
  await tx.run(sql`
    select assume(count(*) = ${rows.length}, 'these are still as they were handed out') from (
      select from execution join unnest(
        ${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ attempt }) => attempt)}::integer[],
        ${rows.map(({ epoch }) => epoch)}::bigint[],
        ${rows.map(({ workerInstance }) => workerInstance)}::text[]
      ) as assumed (id, attempt, epoch, worker_instance) using (id, attempt, epoch, worker_instance)
      where state = 'leased' and started_at is null and cancel_requested_at is null
      order by id
      for update of execution
    ) as held
  `);
}

/** An ended attempt, independent of the state of its execution. */
export interface EndedAttempt {
  readonly held: HeldRow;
  readonly finishedAt: Date;
  readonly outcome: Outcome;
  readonly message: string;
  readonly exitCode: number | undefined;
  readonly usage: Usage | undefined;
}

export async function recordAttempts(tx: Tx, ended: readonly EndedAttempt[]): Promise<void> {
  const rows = ended.map((each) => ({ ...attemptRow(each), execution_id: each.held.id }));
  await tx.run(sql`
    insert into execution_attempt (
      execution_id, attempt, epoch, worker, leased_at, started_at, finished_at, outcome, message,
      size_class, timeout_ms, exit_code, user_ms, system_ms, peak_memory_bytes)
    select execution_id, attempt, epoch, worker, leased_at, started_at, finished_at, outcome, message,
      size_class, timeout_ms, exit_code, user_ms, system_ms, peak_memory_bytes
    from json_to_recordset(${JSON.stringify(rows)}::json) as ended (
      execution_id uuid, attempt integer, epoch bigint, worker text, leased_at timestamptz,
      started_at timestamptz, finished_at timestamptz, outcome text, message text,
      size_class integer, timeout_ms bigint, exit_code integer, user_ms bigint, system_ms bigint,
      peak_memory_bytes bigint)
  `);
}

function attemptRow({ held, finishedAt, outcome, message, exitCode, usage }: EndedAttempt) {
  return {
    attempt: held.attempt,
    epoch: held.epoch,
    worker: held.worker,
    leased_at: held.leasedAt,
    started_at: held.startedAt,
    finished_at: finishedAt,
    outcome,
    message,
    size_class: held.workerSizeClass,
    timeout_ms: held.timeoutMs,
    exit_code: exitCode,
    user_ms: usage?.userMs,
    system_ms: usage?.systemMs,
    peak_memory_bytes: usage?.peakMemoryBytes,
  };
}

/** Puts held executions back into the queue, at the place that they had. */
export async function requeueHeld(
  tx: Tx,
  rows: readonly HeldRow[],
  /** False when the attempt does not count, because it never began. */
  counts: boolean,
): Promise<void> {
  await tx.run(sql`
    update execution
    set state = 'queued', attempt = execution.attempt - ${counts ? 0 : 1}::integer, worker = null,
        worker_instance = null, leased_at = null, leased_until = null, started_at = null
    from unnest(
      ${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ attempt }) => attempt)}::integer[],
      ${rows.map(({ epoch }) => epoch)}::bigint[]
    ) as over (id, attempt, epoch)
    where execution.id = over.id and state = 'leased'
      and execution.attempt = over.attempt and execution.epoch = over.epoch
  `);
}

/** Ends held executions. A terminal state never changes: no code in this module changes the rows again. */
export async function finishHeld(
  tx: Tx,
  finished: readonly (FinishedExecution & { readonly epoch: number })[],
): Promise<void> {
  const rows = finished.map((each) => ({
    id: each.id,
    attempt: each.attempt,
    epoch: each.epoch,
    started_at: each.startedAt,
    finished_at: each.finishedAt,
    outcome: each.outcome,
    exit_code: each.exitCode,
    result: hexOf(each.result),
    message: each.message,
    missing_inputs: each.missingInputs.map(digestKey),
    user_ms: each.usage?.userMs,
    system_ms: each.usage?.systemMs,
    peak_memory_bytes: each.usage?.peakMemoryBytes,
    measured_by: each.usage?.measuredBy,
  }));
  await tx.run(sql`
    update execution
    set state = 'finished', leased_until = null, finished_at = over.finished_at,
        started_at = coalesce(execution.started_at, over.started_at),
        outcome = over.outcome, exit_code = over.exit_code, result = decode(over.result, 'hex'),
        message = over.message, missing_inputs = over.missing_inputs, user_ms = over.user_ms,
        system_ms = over.system_ms, peak_memory_bytes = over.peak_memory_bytes,
        measured_by = over.measured_by
    from json_to_recordset(${JSON.stringify(rows)}::json) as over (
      id uuid, attempt integer, epoch bigint, started_at timestamptz, finished_at timestamptz,
      outcome text,
      exit_code integer, result text, message text, missing_inputs text[], user_ms bigint,
      system_ms bigint, peak_memory_bytes bigint, measured_by text)
    where execution.id = over.id and state = 'leased'
      and execution.attempt = over.attempt and execution.epoch = over.epoch
  `);
}

type Finished = FinishedExecution & { readonly epoch: number };

/**
 * Ends held executions whose attempts are all final: `recordAttempts`, `finishHeld` and `countFinished` in one statement,
 * which costs both sides less than three.
 */
export async function finishAlone(
  tx: Tx,
  ended: readonly EndedAttempt[],
  finished: readonly Finished[],
): Promise<void> {
  await tx.run(sql`
    with ${endedRows(ended, finished)},
    recorded as (${recordEnded} from ended),
    counted as (${countEnded})
    ${finishEnded}
  `);
}

/**
 * Does the work of `assumeHeld` and `finishAlone` for one execution, in one statement. When its row has changed since
 * its assignment, the transaction fails with `aborted`.
 *
 * Only for one execution: an update of several locks their rows in no particular order. Assumptions about rows of other
 * tables, which those change who hold the lock of the execution, must be checked by a later statement: this one sees the
 * state from before its lock.
 */
export async function finishAssumed(
  tx: Tx,
  ended: EndedAttempt,
  finished: Finished,
): Promise<void> {
  await tx.run(sql`
    with ${endedRows([ended], [finished])},
    done as (
      ${finishEnded}
        and execution.worker_instance = ended.worker_instance
        and execution.started_at is null and cancel_requested_at is null
      returning execution.id
    ),
    -- Nothing is recorded for a changed row: its attempt may be recorded already, and that would be another error.
    recorded as (${recordEnded} from ended where id in (select id from done)),
    counted as (${countEnded})
    select assume((select count(*) from done) = 1, 'this is still as it was handed out')
  `);
}

function endedRows(ended: readonly EndedAttempt[], finished: readonly Finished[]): Sql {
  const ends = new Map(finished.map((each) => [each.id, each]));
  const rows = ended.map((attempt) => {
    const { held } = attempt;
    const end = ends.get(held.id);
    return {
      ...attemptRow(attempt),
      id: held.id,
      worker_instance: held.workerInstance,
      result: hexOf(end?.result),
      missing_inputs: end?.missingInputs.map(digestKey) ?? [],
      measured_by: attempt.usage?.measuredBy,
    };
  });
  return sql`
    ended as (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as ended (
        id uuid, attempt integer, epoch bigint, worker text, worker_instance text, leased_at timestamptz,
        started_at timestamptz, finished_at timestamptz, outcome text, message text,
        size_class integer, timeout_ms bigint, exit_code integer, user_ms bigint, system_ms bigint,
        peak_memory_bytes bigint, result text, missing_inputs text[], measured_by text)
    )`;
}

const recordEnded = sql`
  insert into execution_attempt (
    execution_id, attempt, epoch, worker, leased_at, started_at, finished_at, outcome, message,
    size_class, timeout_ms, exit_code, user_ms, system_ms, peak_memory_bytes)
  select id, attempt, epoch, worker, leased_at, started_at, finished_at, outcome, message,
    size_class, timeout_ms, exit_code, user_ms, system_ms, peak_memory_bytes`;

const countEnded = sql`
  update worker set finished_count = finished_count + more.count
  from (
    -- In the order of all who lock several, so that nobody waits in a circle.
    select name, (select count(*) from ended where ended.worker = name) as count
    from worker where name = any(array(select worker from ended)) order by name for no key update
  ) as more
  where worker.name = more.name`;

const finishEnded = sql`
  update execution
  set state = 'finished', leased_until = null, finished_at = ended.finished_at,
      started_at = coalesce(execution.started_at, ended.started_at),
      outcome = ended.outcome, exit_code = ended.exit_code, result = decode(ended.result, 'hex'), message = ended.message,
      missing_inputs = ended.missing_inputs, user_ms = ended.user_ms, system_ms = ended.system_ms,
      peak_memory_bytes = ended.peak_memory_bytes, measured_by = ended.measured_by
  from ended
  where execution.id = ended.id and state = 'leased'
    and execution.attempt = ended.attempt and execution.epoch = ended.epoch`;

function hexOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString("hex");
}

/** Returns expired leases, oldest first. */
export function expiredLeases(tx: Tx, now: Date, most: number): Promise<Lease[]> {
  return tx.many(
    LeaseRow,
    sql`
      select id as "executionId", attempt, epoch from execution
      where state = 'leased' and ${isOver(now)}
      order by leased_until limit ${most}
    `,
  );
}

/** Returns the worker processes that hold some of these leases now. */
export async function holdersOfLeases(tx: Tx, leases: readonly Lease[]): Promise<string[]> {
  const rows = await tx.many(
    z.object({ instanceId: z.string() }),
    sql`
      select distinct worker_instance as "instanceId" from execution
      where id = any(${leases.map(({ executionId }) => executionId)}::uuid[]) and state = 'leased'
    `,
  );
  return rows.map(({ instanceId }) => instanceId);
}

/** Returns leases whose cancellation was requested before this time and that have not ended. */
export function overdueCancellations(tx: Tx, before: Date, most: number): Promise<Lease[]> {
  return tx.many(
    LeaseRow,
    sql`
      select id as "executionId", attempt, epoch from execution
      where state = 'leased' and cancel_requested_at <= ${before}
      order by cancel_requested_at limit ${most}
    `,
  );
}

const LeaseOfOther = LeaseRow.extend({ worker: z.string() });

/** Returns leases under the names of workers that belong to other processes, each with the name. */
export async function leasesOfOthersNamed(
  tx: Tx,
  workers: readonly WorkerProcess[],
): Promise<{ readonly worker: string; readonly lease: Lease }[]> {
  if (workers.length === 0) return [];
  const rows = await tx.many(
    LeaseOfOther,
    sql`
      select id as "executionId", attempt, epoch, worker
      from execution join unnest(
        ${workers.map(({ name }) => name)}::text[], ${workers.map(({ instanceId }) => instanceId)}::text[]
      ) as named (name, instance_id) on execution.worker = named.name
      where state = 'leased' and worker_instance <> named.instance_id
      order by id
    `,
  );
  return rows.map(({ worker, ...lease }) => ({ worker, lease }));
}
