import { z } from "zod";
import { type Digest, digestKey, parseDigestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import { ExecutionId } from "#execution/execution.ts";
import type { Asking } from "./asking.ts";
import { OperationId } from "./operation.ts";

/** Operations that changed without their executions. Payload: their ids, separated by commas. */
export const operationChannel = "grange_operation";

interface NewOperation {
  readonly id: OperationId;
  readonly executionId: ExecutionId;
  readonly asking: Asking;
  readonly actionDigest: Digest;
  readonly joined: boolean;
}

const Inserted = z.object({ id: OperationId, isCancelled: z.boolean() });

/** The times of the requests, and the times until which they certainly have a listener. */
interface Requested {
  readonly now: Date;
  readonly watchedUntil: Date;
}

/**
 * Stores which execution belongs to which call. Returns those whose invocation is cancelled: they are cancelled from
 * the beginning.
 */
export async function insertOperations(
  tx: Tx,
  operations: readonly NewOperation[],
  requested: Requested,
): Promise<OperationId[]> {
  const inserted = await tx.many(
    Inserted,
    sql`${inserting(operations, requested)} select id, "isCancelled" from inserted`,
  );
  return inserted.flatMap(({ id, isCancelled }) => (isCancelled ? [id] : []));
}

/** The same, if no invocation is cancelled; otherwise the transaction fails with `aborted`. */
export async function insertWantedOperations(
  tx: Tx,
  operations: readonly NewOperation[],
  requested: Requested,
): Promise<void> {
  await tx.run(sql`
    ${inserting(operations, requested)}
    select assume(not bool_or("isCancelled"), 'no invocation of these is cancelled') from inserted
  `);
}

function inserting(operations: readonly NewOperation[], { now, watchedUntil }: Requested): Sql {
  const rows = operations.map(({ asking, ...each }) => ({
    id: each.id,
    execution_id: each.executionId,
    project: asking.project,
    invocation: asking.invocation,
    principal: asking.principal,
    action_digest: digestKey(each.actionDigest),
    target_id: asking.targetId,
    action_mnemonic: asking.actionMnemonic,
    configuration_id: asking.configurationId,
    joined: each.joined,
  }));
  return sql`
    with inserted as (
      insert into operation (
        id, execution_id, project, invocation, principal, action_digest, target_id, action_mnemonic,
        configuration_id, joined, requested_at, watched_until, cancelled_at, finished_at, outcome
      )
      select
        asked.id, execution_id, asked.project, asked.invocation, asked.principal, action_digest,
        target_id, action_mnemonic, configuration_id, joined, ${now}, ${watchedUntil},
        case when invocation.cancelled_at is not null then ${now}::timestamptz end,
        case when invocation.cancelled_at is not null then ${now}::timestamptz end,
        case when invocation.cancelled_at is not null then 'cancelled' end
      from json_to_recordset(${JSON.stringify(rows)}::json) as asked (
        id uuid, execution_id uuid, project text, invocation text, principal text,
        action_digest text, target_id text, action_mnemonic text, configuration_id text,
        joined boolean)
      left join invocation
        on invocation.project = asked.project and invocation.id = asked.invocation
      returning operation.id, operation.cancelled_at is not null as "isCancelled"
    )`;
}

const StoredOperation = z.object({
  id: OperationId,
  executionId: ExecutionId,
  project: z.string(),
  principal: z.string(),
  actionDigest: z.string().transform(parseDigestKey),
});
export type StoredOperation = z.infer<typeof StoredOperation>;

export async function findOperation(tx: Tx, id: OperationId): Promise<StoredOperation | undefined> {
  const [found] = await tx.many(
    StoredOperation,
    sql`
      select id, execution_id as "executionId", project, principal,
        action_digest as "actionDigest"
      from operation where id = ${id}
    `,
  );
  return found;
}

/** Records that these operations have listeners. In a fixed order, so that two servers do not wait for each other. */
export async function keepWatched(tx: Tx, ids: readonly OperationId[], until: Date): Promise<void> {
  await tx.run(sql`
    with open as (
      select id from operation where id = any(${ids}::uuid[]) and outcome is null
      order by id for no key update
    )
    update operation set watched_until = greatest(watched_until, ${until})
    from open where operation.id = open.id
  `);
}

/** Returns those of the operations that were cancelled. */
export async function cancelledAmong(tx: Tx, ids: readonly OperationId[]): Promise<OperationId[]> {
  const rows = await tx.many(
    z.object({ id: OperationId }),
    sql`select id from operation where id = any(${ids}::uuid[]) and cancelled_at is not null`,
  );
  return rows.map(({ id }) => id);
}

/** Returns operations that had no listener for too long, the longest first. */
export async function abandonedOperations(tx: Tx, now: Date, most: number): Promise<OperationId[]> {
  const rows = await tx.many(
    z.object({ id: OperationId }),
    sql`
      select id from operation where outcome is null and watched_until <= ${now}
      order by watched_until limit ${most}
    `,
  );
  return rows.map(({ id }) => id);
}

/** Returns the open operations of invocations that were cancelled since a time. */
export async function operationsOfCancelled(
  tx: Tx,
  since: Date,
  most: number,
): Promise<OperationId[]> {
  const rows = await tx.many(
    z.object({ id: OperationId }),
    sql`
      select operation.id from invocation
      join operation on operation.project = invocation.project
        and operation.invocation = invocation.id and operation.outcome is null
      where invocation.cancelled_at >= ${since}
      order by operation.id limit ${most}
    `,
  );
  return rows.map(({ id }) => id);
}

/** Returns the open operations of an invocation. */
export async function openOperationsOf(
  tx: Tx,
  { project, invocation }: Pick<Asking, "project" | "invocation">,
): Promise<OperationId[]> {
  const rows = await tx.many(
    z.object({ id: OperationId }),
    sql`
      select id from operation
      where project = ${project} and invocation = ${invocation} and outcome is null order by id
    `,
  );
  return rows.map(({ id }) => id);
}

/** Returns the executions that serve, or served, an invocation. */
export async function executionsOfInvocation(
  tx: Tx,
  { project, invocation }: Pick<Asking, "project" | "invocation">,
): Promise<ExecutionId[]> {
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      select distinct execution_id as id from operation
      where project = ${project} and invocation = ${invocation} and execution_id is not null order by 1
    `,
  );
  return rows.map(({ id }) => id);
}

export async function executionsServing(
  tx: Tx,
  ids: readonly OperationId[],
): Promise<ExecutionId[]> {
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      select distinct execution_id as id from operation
      where id = any(${ids}::uuid[]) and outcome is null
    `,
  );
  return rows.map(({ id }) => id);
}

/** Returns those of the executions that an operation waits for. */
export async function executionsWantedByOperations(
  tx: Tx,
  ids: readonly ExecutionId[],
): Promise<ExecutionId[]> {
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      select distinct execution_id as id from operation
      where execution_id = any(${ids}::uuid[]) and outcome is null
    `,
  );
  return rows.map(({ id }) => id);
}

/** Ends operations, regardless of their executions. Returns those that it ended, by their executions. */
export function endOperations(
  tx: Tx,
  ids: readonly OperationId[],
  { now, unwatchedSince }: { readonly now: Date; readonly unwatchedSince: Date | undefined },
): Promise<{ id: OperationId; executionId: ExecutionId }[]> {
  return tx.many(
    z.object({ id: OperationId, executionId: ExecutionId }),
    sql`
      with open as (
        select id from operation where id = any(${ids}::uuid[]) and outcome is null
        order by id for no key update
      )
      update operation set cancelled_at = ${now}, finished_at = ${now}, outcome = 'cancelled'
      from open
      where operation.id = open.id
        and (${unwatchedSince ?? null}::timestamptz is null
          or watched_until <= ${unwatchedSince ?? null}::timestamptz)
      returning operation.id, execution_id as "executionId"
    `,
  );
}

/** PostgreSQL refuses payloads from 8,000 bytes; an id and its comma are 37. */
const idsPerPayload = 200;

/** Notifies every server of the changed operations when this transaction commits. */
export async function notifyOperations(tx: Tx, ids: readonly OperationId[]): Promise<void> {
  const payloads: string[] = [];
  for (let i = 0; i < ids.length; i += idsPerPayload)
    payloads.push(ids.slice(i, i + idsPerPayload).join(","));
  if (payloads.length === 0) return;
  await tx.run(
    sql`select pg_notify(${operationChannel}, payload) from unnest(${payloads}::text[]) as payload`,
  );
}
