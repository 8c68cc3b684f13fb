import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";
import type { FinishedExecution } from "./finished-execution.ts";

const CancelledRow = z.object({
  id: ExecutionId,
  project: z.string(),
  domain: TrustDomain,
  actionDigest: z.string().transform(parseDigestKey),
  invocation: z.string(),
  doNotCache: z.boolean(),
  attempt: z.number(),
  queuedAt: z.date(),
});

/**
 * Locks the executions and their second runs until the transaction ends, so that a cancellation sees each in one state.
 */
export async function lockForCancelling(tx: Tx, ids: readonly ExecutionId[]): Promise<void> {
  await tx.run(sql`
    select id from execution
    where (id = any(${ids}::uuid[]) or hedge_of = any(${ids}::uuid[])) and state <> 'finished'
    order by id for update
  `);
}

/** Returns the unfinished second runs of these executions. */
export async function secondRunsOf(tx: Tx, ids: readonly ExecutionId[]): Promise<ExecutionId[]> {
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`select id from execution where hedge_of = any(${ids}::uuid[]) and state <> 'finished' order by id`,
  );
  return rows.map(({ id }) => id);
}

/** Ends those of the executions that no worker has begun. */
export async function cancelQueued(
  tx: Tx,
  ids: readonly ExecutionId[],
  now: Date,
): Promise<FinishedExecution[]> {
  const rows = await tx.many(
    CancelledRow,
    sql`
      update execution
      set state = 'finished', outcome = 'cancelled', message = '', finished_at = ${now}
      where id = any(${ids}::uuid[]) and state = 'queued'
      returning id, project, domain, action_digest as "actionDigest", invocation,
        do_not_cache as "doNotCache", attempt, queued_at as "queuedAt"
    `,
  );
  return rows.map((row) => ({
    ...row,
    worker: undefined,
    leasedAt: undefined,
    startedAt: undefined,
    finishedAt: now,
    outcome: "cancelled",
    exitCode: undefined,
    result: undefined,
    message: "",
    missingInputs: [],
    usage: undefined,
  }));
}

/**
 * Requests the holders of leased executions to end them. They wait for such requests, or get them with their next
 * heartbeat.
 */
export async function requestCancellation(
  tx: Tx,
  ids: readonly ExecutionId[],
  now: Date,
): Promise<{ readonly id: ExecutionId; readonly instanceId: string }[]> {
  return tx.many(
    z.object({ id: ExecutionId, instanceId: z.string() }),
    sql`
      update execution
      set cancel_requested_at = ${now}
      where id = any(${ids}::uuid[]) and state = 'leased' and cancel_requested_at is null
      returning id, worker_instance as "instanceId"
    `,
  );
}
