import { z } from "zod";
import { RunOutcome } from "#api/graph.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import type { ExecutionId } from "#execution/execution.ts";
import type { FinishedExecution } from "#execution/finishing/finished-execution.ts";
import type { Progress } from "#execution/queue-hooks.ts";
import { yieldOf } from "./advancing/yield-of.ts";
import { findingColumns } from "./finding-columns.ts";
import { GraphId } from "./graph-id.ts";

export interface JobKey {
  readonly graphId: GraphId;
  readonly job: string;
}

const GraphRow = z.object({ graphId: GraphId });

/**
 * Returns the graphs that have a run in one of these executions, and must be locked before it
 * changes.
 */
export async function graphsOfExecutions(tx: Tx, ids: readonly ExecutionId[]): Promise<GraphId[]> {
  const rows = await tx.many(
    GraphRow,
    sql`
      select distinct graph_id as "graphId" from run
      where execution_id = any(${ids}::uuid[]) and state <> 'finished'
    `,
  );
  return rows.map((row) => row.graphId);
}

/** Returns the graphs with a run or a batch in one of these executions. One statement, because it runs at each end. */
export async function graphsServedBy(tx: Tx, ids: readonly ExecutionId[]): Promise<GraphId[]> {
  const rows = await tx.many(
    GraphRow,
    sql`
      select graph_id as "graphId" from run
      where execution_id = any(${ids}::uuid[]) and state <> 'finished'
      union
      select graph_id from work_batch
      where execution_id = any(${ids}::uuid[]) and state in ('queued', 'running')
    `,
  );
  return rows.map((row) => row.graphId);
}

/** Aborts the transaction (`aborted`) if, contrary to the assumption, graphs use the executions. */
export async function assumeServedByNoGraph(tx: Tx, ids: readonly ExecutionId[]): Promise<void> {
  await tx.run(sql`
    select assume(not exists (
      select from run where execution_id = any(${ids}::uuid[]) and state <> 'finished'
    ) and not exists (
      select from work_batch
      where execution_id = any(${ids}::uuid[]) and state in ('queued', 'running')
    ), 'no graph is served by these')
  `);
}

const ChangedRun = z.object({ graphId: GraphId, job: z.string(), outcome: RunOutcome.nullable() });
type ChangedRun = z.infer<typeof ChangedRun>;

/** A finished run. A run whose cancellation was requested may have ended in another way before. */
const EndedRun = ChangedRun.extend({
  failureClass: z.string().nullable(),
  cancelRequested: z.boolean(),
  /** Inputs were not in the store; nothing was run. */
  lostInputs: z.boolean().optional(),
});
export type EndedRun = z.infer<typeof EndedRun>;

/** Ends the runs that finished executions served; successful runs of graph jobs have no outcome yet. */
export function finishRuns(tx: Tx, finished: readonly FinishedExecution[]): Promise<EndedRun[]> {
  const rows = finished.map((execution) => ({
    id: execution.id,
    outcome: execution.outcome,
    exit_code: execution.exitCode ?? null,
    message: execution.message === "" ? null : execution.message,
    attempt: Math.max(1, execution.attempt),
    worker: execution.worker ?? null,
    started_at: execution.startedAt ?? null,
    finished_at: execution.finishedAt,
    user_ms: execution.usage?.userMs ?? null,
    system_ms: execution.usage?.systemMs ?? null,
    peak_memory_bytes: execution.usage?.peakMemoryBytes ?? null,
    result:
      execution.result === undefined ? null : Buffer.from(execution.result).toString("base64"),
    yield: yieldOf(execution.outcome, execution.result),
    lost_inputs: execution.missingInputs.length > 0,
    ...findingColumns(execution.outcome, execution.result),
  }));
  return tx.many(
    EndedRun,
    sql`
      with ended as (
      update run
      set state = case when is_graph then 'running' else 'finished' end,
          served_by = case when is_graph then 'farm' else run.served_by end,
          due_at = case when is_graph then now() end,
          outcome = case when not is_graph then f.outcome end,
          exit_code = f.exit_code, message = f.message,
          attempt = f.attempt, worker = f.worker, started_at = f.started_at,
          finished_at = case when not is_graph then f.finished_at end,
          user_ms = f.user_ms, system_ms = f.system_ms, peak_memory_bytes = f.peak_memory_bytes,
          result = decode(f.result, 'base64'), yield = case when not is_graph then f.yield end,
          failure_class = f.failure_class, error_lines = f.error_lines, numbers = f.numbers
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as f (id uuid, outcome text, exit_code integer, message text, attempt integer, worker text,
              started_at timestamptz, finished_at timestamptz, user_ms double precision,
              system_ms double precision, peak_memory_bytes bigint, result text, yield text,
              failure_class text, error_lines jsonb, numbers jsonb, lost_inputs boolean)
      cross join job as of
      -- What it has made is a graph: the farm goes on with the run, and ends it with the graph.
      cross join lateral (select of.kind = 'graph' and f.outcome = 'succeeded' as is_graph) as made
      where run.execution_id = f.id and run.state <> 'finished' and run.served_by = 'execution'
        and of.graph_id = run.graph_id and of.name = run.job
      returning run.graph_id, run.job, run.outcome, run.failure_class, run.yield, run.cancel_asked_at,
                f.lost_inputs
      ),
      given as (
        update job set yield = ended.yield
        from ended
        where job.graph_id = ended.graph_id and job.name = ended.job and ended.outcome is not null
      )
      select graph_id as "graphId", job, outcome, failure_class as "failureClass",
             cancel_asked_at is not null as "cancelRequested", lost_inputs as "lostInputs"
      from ended
    `,
  );
}

/** Updates runs when their executions start or return to the queue. */
export function moveRuns(tx: Tx, progress: readonly Progress[]): Promise<ChangedRun[]> {
  const rows = progress.map(({ id, kind, attempt }) => ({
    id,
    state: kind === "started" ? "running" : "queued",
    attempt: Math.max(1, attempt),
  }));
  return tx.many(
    ChangedRun,
    sql`
      update run
      set state = p.state, attempt = p.attempt,
          started_at = case when p.state = 'running' then now() end
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as p (id uuid, state text, attempt integer)
      where run.execution_id = p.id and run.state <> 'finished' and run.served_by = 'execution'
      returning run.graph_id as "graphId", run.job, run.outcome
    `,
  );
}

const RetryRow = z.object({
  graphId: GraphId,
  job: z.string(),
  used: z.number(),
  budget: z.number(),
  inputLosses: z.number(),
  /** The classes of failures that the definition names. */
  classes: z
    .record(z.string(), z.object({ retry: z.boolean().optional() }))
    .nullable()
    .transform((classes) => classes ?? {}),
});
type RetryRow = z.infer<typeof RetryRow>;

/** Returns the rest of the jobs' budgets for automatic retries, and which failures may use them. */
export function retryBudgets(tx: Tx, jobs: readonly JobKey[]): Promise<RetryRow[]> {
  return tx.many(
    RetryRow,
    sql`
      select job.graph_id as "graphId", job.name as job, job.retries_used as used, job.retries as budget,
             job.input_losses as "inputLosses", definition.body -> 'failure' as classes
      from ${keys(jobs)} as k (graph_id, name)
      join job on job.graph_id = k.graph_id and job.name = k.name
      join definition on definition.digest = job.definition
    `,
  );
}

/** Requests another run of each job: from its own budget, or outside of it when the store had lost inputs. */
export async function wantAutoRetries(
  tx: Tx,
  jobs: readonly JobKey[],
  account: "retries" | "input-losses",
): Promise<void> {
  if (jobs.length === 0) return;
  await tx.run(sql`
    update job
    set wanted = 'auto-retry', retries_used = retries_used + ${account === "retries" ? 1 : 0}::integer,
        input_losses = input_losses + ${account === "input-losses" ? 1 : 0}::integer, wanted_at = now(), wanted_by = null,
        wanted_why = null, expires_at = now() + make_interval(secs => ttl_ms / 1000.0)
    from ${keys(jobs)} as k (graph_id, name)
    where job.graph_id = k.graph_id and job.name = k.name
  `);
}

function keys(jobs: readonly JobKey[]): Sql {
  return sql`unnest(${jobs.map(({ graphId }) => graphId)}::uuid[], ${jobs.map(({ job }) => job)}::text[])`;
}

const NeededOutput = z.object({
  job: z.string(),
  outcome: RunOutcome,
  result: z.instanceof(Uint8Array).nullable(),
});
export type NeededOutput = z.infer<typeof NeededOutput>;

/** Returns the latest results of jobs that have run. */
export function latestResults(
  tx: Tx,
  graphId: GraphId,
  jobs: readonly string[],
): Promise<NeededOutput[]> {
  return tx.many(
    NeededOutput,
    sql`
      select run.job, run.outcome, run.result
      from job
      join run on run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
      where job.graph_id = ${graphId} and job.name = any(${jobs}::text[]) and run.state = 'finished'
    `,
  );
}
