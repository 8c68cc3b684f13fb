import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ExecutionId } from "./execution.ts";

/** There is something to claim. Payload: who put it there and serves it, or nothing. */
export const queueChannel = "grange_queue";
/** Executions changed. Payload: their ids, separated by commas. */
export const executionChannel = "grange_execution";
/** Leased executions are to be cancelled. Payload: the instance id of the worker process that holds them. */
export const cancellationChannel = "grange_cancellation";
/** Leases of worker processes ran out. Payload: who tells it, and their instance ids, separated by commas. */
export const silentWorkerChannel = "grange_silent_worker";
/** A log grew. Payload: the execution's id. */
export const logChannel = "grange_execution_log";

/** PostgreSQL refuses payloads from 8,000 bytes; an id and its comma are 37. */
const idsPerPayload = 200;

/** Who runs a transaction, and how often it has put something into the queue. */
interface Teller {
  readonly name: string;
  told: number;
}

const tellers = new WeakMap<Tx, Teller>();

/** Says who runs a transaction, and so needs no waking by it. Answers how often it has told the queue so far. */
export function tellQueueAs(tx: Tx, name: string): () => number {
  const teller: Teller = { name, told: 0 };
  tellers.set(tx, teller);
  return () => teller.told;
}

/** Wakes the claims that wait at any server, once this transaction commits. */
export async function notifyQueue(tx: Tx): Promise<void> {
  const teller = tellers.get(tx);
  if (teller !== undefined) teller.told++;
  await tx.run(sql`select pg_notify(${queueChannel}, ${teller?.name ?? ""})`);
}

/** Tells every server which executions changed, once this transaction commits. */
export async function notifyExecutions(tx: Tx, ids: readonly ExecutionId[]): Promise<void> {
  const payloads: string[] = [];
  for (let i = 0; i < ids.length; i += idsPerPayload)
    payloads.push(ids.slice(i, i + idsPerPayload).join(","));
  if (payloads.length > 0) {
    await tx.run(
      sql`select pg_notify(${executionChannel}, payload) from unnest(${payloads}::text[]) as payload`,
    );
  }
}

/** Tells the servers at which these processes wait for cancellations, once this transaction commits. */
export async function notifyCancellations(tx: Tx, instances: readonly string[]): Promise<void> {
  if (instances.length === 0) return;
  await tx.run(
    sql`select pg_notify(${cancellationChannel}, instance) from unnest(${instances}::text[]) as instance`,
  );
}

export async function notifyLog(tx: Tx, id: ExecutionId): Promise<void> {
  await tx.run(sql`select pg_notify(${logChannel}, ${id}::text)`);
}

/** Tells all servers of worker processes whose leases ran out. `by` names who tells it, and need not hear it. */
export async function notifySilentWorkers(
  tx: Tx,
  by: string,
  instanceIds: readonly string[],
): Promise<void> {
  for (let from = 0; from < instanceIds.length; from += idsPerPayload) {
    const payload = [by, ...instanceIds.slice(from, from + idsPerPayload)].join(",");
    await tx.run(sql`select pg_notify(${silentWorkerChannel}, ${payload})`);
  }
}
