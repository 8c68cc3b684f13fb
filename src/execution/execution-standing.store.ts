import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId, Outcome } from "./execution.ts";

const Standing = z.object({
  id: ExecutionId,
  state: z.enum(["queued", "leased", "finished"]),
  worker: z.string().nullable(),
  queuedAt: z.date(),
  startedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
  outcome: Outcome.nullable(),
  exitCode: z.number().nullable(),
});
/** The state of an execution in short form, for long lists. */
export type ExecutionStanding = z.infer<typeof Standing>;

/** Returns those of the executions that exist, in no order, without their results. */
export function executionStandings(tx: Tx, ids: readonly string[]): Promise<ExecutionStanding[]> {
  return tx.many(
    Standing,
    sql`
      select id, state, worker, queued_at as "queuedAt", started_at as "startedAt",
        finished_at as "finishedAt", outcome, exit_code as "exitCode"
      from execution where id = any(${ids}::uuid[])
    `,
  );
}

const Origin = z.object({ project: z.string(), invocation: z.string() });

/** Returns the project of an execution, and the invocation that requested it first: for graphs, the graph's id. */
export async function originOfExecution(
  tx: Tx,
  id: ExecutionId,
): Promise<z.infer<typeof Origin> | undefined> {
  const [row] = await tx.many(
    Origin,
    sql`select project, invocation from execution where id = ${id}`,
  );
  return row;
}

const Terms = z.object({
  domain: z.string(),
  sizeClass: z.number(),
  priority: z.number(),
  timeoutMs: z.number(),
  expectedDurationMs: z.number().nullable(),
  state: z.enum(["queued", "leased", "finished"]),
  worker: z.string().nullable(),
  queuedAt: z.date(),
  leasedAt: z.date().nullable(),
  startedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
});
/** The terms of an execution's request, and its times. */
type ExecutionTerms = z.infer<typeof Terms>;

export async function executionTerms(tx: Tx, id: ExecutionId): Promise<ExecutionTerms | undefined> {
  const [row] = await tx.many(
    Terms,
    sql`
      select domain, size_class as "sizeClass", priority, timeout_ms as "timeoutMs",
        expected_duration_ms as "expectedDurationMs", state, worker, queued_at as "queuedAt",
        leased_at as "leasedAt", started_at as "startedAt", finished_at as "finishedAt"
      from execution where id = ${id}
    `,
  );
  return row;
}
