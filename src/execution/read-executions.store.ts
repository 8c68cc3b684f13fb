import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId, type ExecutionState, Outcome } from "./execution.ts";
import type { FinishedExecution } from "./finishing/finished-execution.ts";

const Row = z.object({
  id: ExecutionId,
  project: z.string(),
  domain: TrustDomain,
  actionDigest: z.string().transform(parseDigestKey),
  invocation: z.string(),
  doNotCache: z.boolean(),
  state: z.enum(["queued", "leased", "finished"]),
  attempt: z.number(),
  epoch: z.number(),
  worker: z.string().nullable(),
  queuedAt: z.date(),
  leasedAt: z.date().nullable(),
  leasedUntil: z.date().nullable(),
  startedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
  cancelRequested: z.boolean(),
  cancelConfirmed: z.boolean(),
  outcome: Outcome.nullable(),
  exitCode: z.number().nullable(),
  result: z.instanceof(Uint8Array).nullable(),
  message: z.string().nullable(),
  missingInputs: z.array(z.string().transform(parseDigestKey)).nullable(),
  userMs: z.number().nullable(),
  systemMs: z.number().nullable(),
  peakMemoryBytes: z.number().nullable(),
  measuredBy: z.string().nullable(),
});
type Row = z.infer<typeof Row>;

/** The current state of an execution. */
export interface ExecutionView {
  readonly id: ExecutionId;
  readonly project: string;
  readonly actionDigest: FinishedExecution["actionDigest"];
  /** The number of attempts so far, including the current one. */
  readonly attempt: number;
  readonly cancelRequested: boolean;
  /** The worker has confirmed the cancellation, and starts no process for it. */
  readonly cancelConfirmed: boolean;
  readonly queuedAt: Date;
  readonly state: ExecutionState;
  /** Set when, and only when, it is finished. */
  readonly finished: FinishedExecution | undefined;
}

/** Returns the existing ones among the executions, in no order. */
export async function readExecutions(
  tx: Tx,
  ids: readonly ExecutionId[],
): Promise<ExecutionView[]> {
  const rows = await tx.many(
    Row,
    sql`
      select id, project, domain, action_digest as "actionDigest", invocation,
        do_not_cache as "doNotCache", state, attempt, epoch, worker, queued_at as "queuedAt",
        leased_at as "leasedAt", leased_until as "leasedUntil", started_at as "startedAt",
        finished_at as "finishedAt", cancel_requested_at is not null as "cancelRequested",
        cancel_confirmed_at is not null as "cancelConfirmed",
        outcome, exit_code as "exitCode", result, message, missing_inputs as "missingInputs",
        user_ms as "userMs", system_ms as "systemMs", peak_memory_bytes as "peakMemoryBytes",
        measured_by as "measuredBy"
      from execution
      where id = any(${ids}::uuid[])
    `,
  );
  return rows.map((row) => ({
    id: row.id,
    project: row.project,
    actionDigest: row.actionDigest,
    attempt: row.attempt,
    cancelRequested: row.cancelRequested,
    cancelConfirmed: row.cancelConfirmed,
    queuedAt: row.queuedAt,
    state: stateOf(row),
    finished: finishedOf(row),
  }));
}

// The fallbacks below are for the compiler: the table's constraints rule them out.
function stateOf(row: Row): ExecutionState {
  switch (row.state) {
    case "queued":
      return { kind: "queued", queuedAt: row.queuedAt };
    case "leased":
      return {
        kind: "leased",
        worker: row.worker ?? "",
        epoch: row.epoch,
        leasedUntil: row.leasedUntil ?? row.queuedAt,
        startedAt: row.startedAt ?? undefined,
      };
    case "finished":
      return {
        kind: "finished",
        finishedAt: row.finishedAt ?? row.queuedAt,
        outcome: row.outcome ?? "infrastructure_error",
      };
  }
}

function finishedOf(row: Row): FinishedExecution | undefined {
  if (row.outcome === null || row.finishedAt === null) return undefined;
  return {
    id: row.id,
    project: row.project,
    domain: row.domain,
    actionDigest: row.actionDigest,
    invocation: row.invocation,
    doNotCache: row.doNotCache,
    attempt: row.attempt,
    worker: row.worker ?? undefined,
    queuedAt: row.queuedAt,
    leasedAt: row.leasedAt ?? undefined,
    startedAt: row.startedAt ?? undefined,
    finishedAt: row.finishedAt,
    outcome: row.outcome,
    exitCode: row.exitCode ?? undefined,
    result: row.result ?? undefined,
    message: row.message ?? "",
    missingInputs: row.missingInputs ?? [],
    usage:
      row.measuredBy === null
        ? undefined
        : {
            userMs: row.userMs ?? 0,
            systemMs: row.systemMs ?? 0,
            peakMemoryBytes: row.peakMemoryBytes ?? 0,
            measuredBy: row.measuredBy,
          },
  };
}

const Attempt = z.object({
  attempt: z.number(),
  worker: z.string(),
  leasedAt: z.date(),
  startedAt: z.date().nullable(),
  finishedAt: z.date(),
  outcome: Outcome,
  message: z.string(),
});
type Attempt = z.infer<typeof Attempt>;

/** Returns the ended attempts of an execution, in order. */
export function readAttempts(tx: Tx, id: ExecutionId): Promise<Attempt[]> {
  return tx.many(
    Attempt,
    sql`
      select attempt, worker, leased_at as "leasedAt", started_at as "startedAt",
        finished_at as "finishedAt", outcome, message
      from execution_attempt
      where execution_id = ${id}
      order by attempt
    `,
  );
}
