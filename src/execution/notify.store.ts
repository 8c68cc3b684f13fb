import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ExecutionId } from "./execution.ts";

/** Something can be claimed. Payload: the dispatcher that queued it and serves it itself, or nothing. */
export const queueChannel = "grange_queue";
/** Executions changed. Payload: their ids, separated by commas. */
export const executionChannel = "grange_execution";
/**
 * The cancellation of leased executions was requested. Payload: the instance id of the worker process that holds them.
 */
export const cancellationChannel = "grange_cancellation";
/** Leases of worker processes expired. Payload: the sender, and their instance ids, separated by commas. */
export const silentWorkerChannel = "grange_silent_worker";
/** A log grew. Payload: the execution's id. */
export const logChannel = "grange_execution_log";

/** PostgreSQL refuses payloads from 8,000 bytes; an id and its comma are 37. */
const idsPerPayload = 200;

/** The dispatcher that runs a transaction, and the number of its additions to the queue. */
interface QueueNotifier {
  readonly name: string;
  notified: number;
}

const notifiers = new WeakMap<Tx, QueueNotifier>();

/**
 * Names the dispatcher that runs a transaction, which its own notifications need not wake. Returns a function that says
 * how often the transaction has notified the queue.
 */
export function nameQueueNotifier(tx: Tx, name: string): () => number {
  const notifier: QueueNotifier = { name, notified: 0 };
  notifiers.set(tx, notifier);
  return () => notifier.notified;
}

/** Wakes the claims that wait at any server, once this transaction commits. */
export async function notifyQueue(tx: Tx): Promise<void> {
  const notifier = notifiers.get(tx);
  if (notifier !== undefined) notifier.notified++;
  await tx.run(sql`select pg_notify(${queueChannel}, ${notifier?.name ?? ""})`);
}

/** Notifies all servers of changed executions, once this transaction commits. */
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

/** Notifies the servers on which these processes wait for cancellations, once this transaction commits. */
export async function notifyCancellations(tx: Tx, instances: readonly string[]): Promise<void> {
  if (instances.length === 0) return;
  await tx.run(
    sql`select pg_notify(${cancellationChannel}, instance) from unnest(${instances}::text[]) as instance`,
  );
}

export async function notifyLog(tx: Tx, id: ExecutionId): Promise<void> {
  await tx.run(sql`select pg_notify(${logChannel}, ${id}::text)`);
}

/** Notifies all servers of worker processes whose leases expired. `by` names the sender, which ignores it. */
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
