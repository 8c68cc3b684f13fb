import { z } from "zod";
import { type RunCause, RunOutcome } from "#api/graph.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ExecutionId } from "#execution/execution.ts";
import type { FinishedExecution } from "#execution/finished-execution.ts";
import type { Progress } from "#execution/queue-hooks.ts";
import { yieldOf } from "./advancing/yield-of.ts";
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
    /** The farm has served it. */
    | { readonly kind: "settled"; readonly outcome: RunOutcome; readonly message: string | null }
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
              result text, yield text, due_at timestamptz, input_runs jsonb)
    ),
    counted as (
      update job
      set runs = job.runs + 1, wanted = null, expires_at = null,
          yield = coalesce(new.yield, job.yield)
      from new where job.graph_id = new.graph_id and job.name = new.job
      returning job.graph_id, job.name, job.runs, job.wanted_by, job.wanted_why, job.wanted_at, job.ready_at
    )
    insert into run (graph_id, job, number, cause, served_by, state, outcome, exit_code, message, action_digest,
                     execution_id, cached, cached_from_graph, cached_from_job, cached_at, result, yield,
                     due_at, input_runs, asked_by, why, wanted_at, ready_at, started_at, finished_at)
    select new.graph_id, new.job, counted.runs, new.cause, new.served_by, new.state, new.outcome, new.exit_code,
           new.message, new.action_digest, new.execution_id, new.cached,
           maker.graph_id, maker.job,
           case when new.cached then coalesce(maker.finished_at, new.made_at) end,
           decode(new.result, 'base64'), new.yield,
           new.due_at, new.input_runs, counted.wanted_by, counted.wanted_why, counted.wanted_at, counted.ready_at,
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
      return { ...about, served_by: "farm", ...ended(run.outcome), message: run.message };
    case "items":
      return { ...about, served_by: "items", state: "running" };
  }
}

function ended(outcome: RunOutcome) {
  return { state: "finished", outcome, yield: yieldOf(outcome, undefined) };
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
const EndedRun = ChangedRun.extend({ cancelAsked: z.boolean() });
export type EndedRun = z.infer<typeof EndedRun>;

/** Ends the runs that finished executions served. */
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
  }));
  return tx.many(
    EndedRun,
    sql`
      with ended as (
      update run
      set state = 'finished', outcome = f.outcome, exit_code = f.exit_code, message = f.message,
          attempt = f.attempt, worker = f.worker, started_at = f.started_at, finished_at = f.finished_at,
          user_ms = f.user_ms, system_ms = f.system_ms, peak_memory_bytes = f.peak_memory_bytes,
          result = decode(f.result, 'base64'), yield = f.yield
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as f (id uuid, outcome text, exit_code integer, message text, attempt integer, worker text,
              started_at timestamptz, finished_at timestamptz, user_ms double precision,
              system_ms double precision, peak_memory_bytes bigint, result text, yield text)
      where run.execution_id = f.id and run.state <> 'finished'
      returning run.graph_id, run.job, run.outcome, run.yield, run.cancel_asked_at
      ),
      given as (
        update job set yield = ended.yield
        from ended where job.graph_id = ended.graph_id and job.name = ended.job
      )
      select graph_id as "graphId", job, outcome, cancel_asked_at is not null as "cancelAsked" from ended
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
      where run.execution_id = p.id and run.state <> 'finished'
      returning run.graph_id as "graphId", run.job, run.outcome
    `,
  );
}

const RetryRow = z.object({ job: z.string(), used: z.number(), budget: z.number() });
export type RetryRow = z.infer<typeof RetryRow>;

/** What is left of the jobs' budgets for automatic retries. */
export function retryBudgets(
  tx: Tx,
  graphId: GraphId,
  jobs: readonly string[],
): Promise<RetryRow[]> {
  return tx.many(
    RetryRow,
    sql`
      select name as job, retries_used as used, retries as budget from job
      where graph_id = ${graphId} and name = any(${jobs}::text[])
    `,
  );
}

/** Asks for another run of each job, on its own account. */
export async function wantAutoRetries(
  tx: Tx,
  graphId: GraphId,
  jobs: readonly string[],
): Promise<void> {
  if (jobs.length === 0) return;
  await tx.run(sql`
    update job
    set wanted = 'auto-retry', retries_used = retries_used + 1, wanted_at = now(), wanted_by = null,
        wanted_why = null, expires_at = now() + make_interval(secs => ttl_ms / 1000.0)
    where graph_id = ${graphId} and name = any(${jobs}::text[])
  `);
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
