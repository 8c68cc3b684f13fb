import { z } from "zod";
import { type RunCause, RunOutcome } from "#api/graph.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import type { ExecutionId } from "#execution/execution.ts";
import type { FinishedExecution } from "#execution/finished-execution.ts";
import type { Progress } from "#execution/queue-hooks.ts";
import { yieldOf } from "./advancing/yield-of.ts";
import { findingColumns } from "./finding-columns.ts";
import { GraphId } from "./graph-id.ts";

export interface JobKey {
  readonly graphId: GraphId;
  readonly job: string;
}

/** How a prepared job goes on. */
export type NewRun = JobKey & {
  readonly cause: RunCause;
  /** Which run of each awaited job it uses. */
  readonly inputRuns: Readonly<Record<string, number>>;
} & (
    | { readonly kind: "queued"; readonly actionDigest: Digest; readonly executionId: ExecutionId }
    | {
        readonly kind: "hit";
        readonly actionDigest: Digest;
        readonly result: Uint8Array;
        readonly madeAt: Date;
      }
    /** No action could be made of it; the message says why, and what to do. */
    | { readonly kind: "unpreparable"; readonly message: string }
    /** The farm serves it: it waits for a person or a time, or pretends to run until then. */
    | {
        readonly kind: "errand";
        readonly state: "waiting" | "running";
        readonly dueAt: Date | null;
      }
    /** The farm has served it. `result` is an REv2 ActionResult, binary. */
    | {
        readonly kind: "settled";
        readonly outcome: RunOutcome;
        readonly message: string | null;
        readonly exitCode?: number | null;
        readonly failureClass?: string | null;
        readonly result?: Uint8Array | null;
      }
    /** The definitions of its graph are known already; the farm is to plan it. */
    | {
        readonly kind: "to-plan";
        readonly actionDigest: Digest | null;
        readonly result: Uint8Array | null;
        readonly madeAt: Date | null;
        readonly dueAt: Date;
      }
    /** Workers share its items; each batch is an execution of its own. */
    | { readonly kind: "items" }
  );

/** Adds runs, each the next of its job, which then wants none any more. The graphs are locked. */
export async function insertRuns(tx: Tx, runs: readonly NewRun[]): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map(asRow);
  // What they take of the jobs before them, as those stand now.
  await tx.run(sql`
    with new as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as n (graph_id uuid, job text)
    ),
    taking as (
      update edge set taken = source.yield, stale = source.stale
      from new, job as source
      where edge.graph_id = new.graph_id and edge.job = new.job
        and source.graph_id = edge.graph_id and source.name = edge.on_job
      returning edge.graph_id, edge.job, edge.stale
    )
    update job
    set stale_edges = taken.stale_edges, stale = job.stale and taken.stale_edges > 0
    from (
      select graph_id, job, count(*) filter (where stale) as stale_edges from taking group by graph_id, job
    ) as taken
    where job.graph_id = taken.graph_id and job.name = taken.job
  `);
  await tx.run(sql`
    with new as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as n (graph_id uuid, job text, cause text, served_by text, state text, outcome text, exit_code integer,
              message text, action_digest text, execution_id uuid, cached boolean, made_at timestamptz,
              result text, yield text, due_at timestamptz, input_runs jsonb, failure_class text,
              error_lines jsonb, numbers jsonb)
    ),
    counted as (
      update job
      set runs = job.runs + 1, wanted = null,
          -- What is queued still waits for its start.
          expires_at = case when new.state = 'queued' then job.expires_at end,
          yield = coalesce(new.yield, job.yield)
      from new where job.graph_id = new.graph_id and job.name = new.job
      returning job.graph_id, job.name, job.runs, job.wanted_by, job.wanted_why, job.wanted_at, job.ready_at
    )
    insert into run (graph_id, job, number, cause, served_by, state, outcome, exit_code, message, action_digest,
                     execution_id, cached, cached_from_graph, cached_from_job, cached_at, result, yield,
                     due_at, input_runs, failure_class, error_lines, numbers, asked_by, why, wanted_at, ready_at, started_at,
                     finished_at)
    select new.graph_id, new.job, counted.runs, new.cause, new.served_by, new.state, new.outcome, new.exit_code,
           new.message, new.action_digest, new.execution_id, new.cached,
           maker.graph_id, maker.job,
           case when new.cached then coalesce(maker.finished_at, new.made_at) end,
           decode(new.result, 'base64'), new.yield,
           new.due_at, new.input_runs, new.failure_class, new.error_lines, new.numbers, counted.wanted_by, counted.wanted_why, counted.wanted_at, counted.ready_at,
           case when new.state = 'running' then now() end,
           case when new.state = 'finished' then now() end
    from new
    join counted on counted.graph_id = new.graph_id and counted.name = new.job
    left join lateral (
      select run.graph_id, run.job, run.finished_at
      from run
      where new.cached and run.action_digest = new.action_digest
        and run.outcome = 'succeeded' and not run.cached
      order by run.finished_at desc
      limit 1
    ) as maker on true
  `);
}

function asRow(run: NewRun) {
  const about = {
    graph_id: run.graphId,
    job: run.job,
    cause: run.cause,
    input_runs: run.inputRuns,
    served_by: "execution",
    cached: false,
    error_lines: [],
    numbers: {},
  };
  switch (run.kind) {
    case "queued":
      return {
        ...about,
        state: "queued",
        action_digest: digestKey(run.actionDigest),
        execution_id: run.executionId,
      };
    case "hit":
      return {
        ...about,
        state: "finished",
        outcome: "succeeded",
        ...findingColumns("succeeded", run.result),
        exit_code: 0,
        action_digest: digestKey(run.actionDigest),
        cached: true,
        made_at: run.madeAt,
        result: Buffer.from(run.result).toString("base64"),
        yield: yieldOf("succeeded", run.result),
      };
    case "unpreparable":
      return { ...about, ...ended("failed"), message: run.message };
    case "errand":
      return { ...about, served_by: "farm", state: run.state, due_at: run.dueAt };
    case "settled":
      return {
        ...about,
        served_by: "farm",
        ...ended(run.outcome, run.result ?? undefined),
        message: run.message,
        exit_code: run.exitCode,
        failure_class: run.failureClass,
        result: base64(run.result),
      };
    case "to-plan":
      return {
        ...about,
        served_by: "farm",
        state: "running",
        due_at: run.dueAt,
        action_digest: run.actionDigest && digestKey(run.actionDigest),
        cached: run.madeAt !== null,
        made_at: run.madeAt,
        result: base64(run.result),
      };
    case "items":
      return { ...about, served_by: "items", state: "running" };
  }
}

function ended(outcome: RunOutcome, result?: Uint8Array) {
  return { state: "finished", outcome, yield: yieldOf(outcome, result) };
}

function base64(bytes: Uint8Array | null | undefined): string | null {
  return bytes ? Buffer.from(bytes).toString("base64") : null;
}

const GraphRow = z.object({ graphId: GraphId });

/** The graphs that have a run in one of these executions, and must be locked before it changes. */
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

const ChangedRun = z.object({ graphId: GraphId, job: z.string(), outcome: RunOutcome.nullable() });
export type ChangedRun = z.infer<typeof ChangedRun>;

/** A run that is over. One that was to end may have ended otherwise before the wish reached it. */
const EndedRun = ChangedRun.extend({
  failureClass: z.string().nullable(),
  cancelAsked: z.boolean(),
});
export type EndedRun = z.infer<typeof EndedRun>;

/** Ends the runs that finished executions served; but those of graph jobs that succeeded have no outcome yet. */
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
              failure_class text, error_lines jsonb, numbers jsonb)
      cross join job as of
      -- What it has made is a graph: the farm goes on with the run, and ends it with the graph.
      cross join lateral (select of.kind = 'graph' and f.outcome = 'succeeded' as is_graph) as made
      where run.execution_id = f.id and run.state <> 'finished' and run.served_by = 'execution'
        and of.graph_id = run.graph_id and of.name = run.job
      returning run.graph_id, run.job, run.outcome, run.failure_class, run.yield, run.cancel_asked_at
      ),
      given as (
        update job set yield = ended.yield
        from ended
        where job.graph_id = ended.graph_id and job.name = ended.job and ended.outcome is not null
      )
      select graph_id as "graphId", job, outcome, failure_class as "failureClass",
             cancel_asked_at is not null as "cancelAsked"
      from ended
    `,
  );
}

/** Shows on the runs that executions serve whether those run, or wait once more. */
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
  /** The classes of failures that the definition names. */
  classes: z
    .record(z.string(), z.object({ retry: z.boolean().optional() }))
    .nullable()
    .transform((classes) => classes ?? {}),
});
export type RetryRow = z.infer<typeof RetryRow>;

/** What is left of the jobs' budgets for automatic retries, and which failures may use them. */
export function retryBudgets(tx: Tx, jobs: readonly JobKey[]): Promise<RetryRow[]> {
  return tx.many(
    RetryRow,
    sql`
      select job.graph_id as "graphId", job.name as job, job.retries_used as used, job.retries as budget,
             definition.body -> 'failure' as classes
      from ${keys(jobs)} as k (graph_id, name)
      join job on job.graph_id = k.graph_id and job.name = k.name
      join definition on definition.digest = job.definition
    `,
  );
}

/** Asks for another run of each job, on its own account. */
export async function wantAutoRetries(tx: Tx, jobs: readonly JobKey[]): Promise<void> {
  if (jobs.length === 0) return;
  await tx.run(sql`
    update job
    set wanted = 'auto-retry', retries_used = retries_used + 1, wanted_at = now(), wanted_by = null,
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

/** The latest results of jobs that have run. */
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
