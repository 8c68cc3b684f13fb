import { type RunCause, type RunOutcome } from "#api/graph.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { yieldOf } from "./advancing/yield-of.ts";
import { namedWhereFew } from "./few-jobs.store.ts";
import { findingColumns } from "./finding-columns.ts";
import type { JobKey } from "./run.store.ts";

/** The next state of a prepared job. */
export type NewRun = JobKey & {
  readonly cause: RunCause;
  /** The run of each awaited job that it uses. */
  readonly inputRuns: Readonly<Record<string, number>>;
} & (
    | { readonly kind: "queued"; readonly actionDigest: Digest; readonly executionId: ExecutionId }
    | {
        readonly kind: "hit";
        readonly actionDigest: Digest;
        readonly result: Uint8Array;
        readonly madeAt: Date;
        readonly message?: string | undefined;
        /** The finder of its inputs, from which it used nothing. */
        readonly without?: string | undefined;
      }
    /** Its action could not be made; the message gives the reason and the remedy. */
    | { readonly kind: "unpreparable"; readonly message: string }
    /** The farm runs it: it waits for a person or a time, or simulates a run until then. */
    | {
        readonly kind: "server-job";
        readonly state: "waiting" | "running";
        readonly dueAt: Date | null;
      }
    /** The farm has run it. `result` is an REv2 ActionResult, binary. */
    | {
        readonly kind: "settled";
        readonly outcome: RunOutcome;
        readonly message: string | null;
        readonly exitCode?: number | null;
        readonly failureClass?: string | null;
        readonly result?: Uint8Array | null;
      }
    /** The definitions of its graph are known; the farm must plan the graph. */
    | {
        readonly kind: "to-plan";
        readonly actionDigest: Digest | null;
        readonly result: Uint8Array | null;
        readonly madeAt: Date | null;
        readonly dueAt: Date;
      }
    /** Workers share its items; each batch is a separate execution. */
    | { readonly kind: "items" }
    /** A machine outside the farm has begun it and reports. */
    | { readonly kind: "outside" }
  );

/** Adds runs, each the next of its job; this fulfils the job's request for a run. The graphs are locked. */
export async function insertRuns(tx: Tx, runs: readonly NewRun[]): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map(asRow);
  // The present results of earlier jobs that they use.
  await tx.run(sql`
    with new as (
      select * from json_to_recordset(${JSON.stringify(rows)}::json)
        as n (graph_id uuid, job text, without text)
    ),
    taking as (
      update edge set taken = source.yield, stale = source.stale
      from new, job as source
      where edge.graph_id = new.graph_id and edge.job = new.job
        and ${namedWhereFew(runs, sql`edge.graph_id`, sql`edge.job`)}
        and source.graph_id = edge.graph_id and source.name = edge.on_job
        and edge.on_job is distinct from new.without
      returning edge.graph_id, edge.job, edge.stale
    )
    update job
    set stale_edges = taken.stale_edges, stale = job.stale and taken.stale_edges > 0
    from (
      select graph_id, job, count(*) filter (where stale) as stale_edges from taking group by graph_id, job
    ) as taken
    where job.graph_id = taken.graph_id and job.name = taken.job and ${namedWhereFew(runs)}
  `);
  await tx.run(sql`
    with new as (
      select * from json_to_recordset(${JSON.stringify(rows)}::json)
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
      from new
      where job.graph_id = new.graph_id and job.name = new.job and ${namedWhereFew(runs)}
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
        message: run.message ?? null,
        without: run.without ?? null,
        made_at: run.madeAt,
        result: Buffer.from(run.result).toString("base64"),
        yield: yieldOf("succeeded", run.result),
      };
    case "unpreparable":
      return { ...about, ...ended("failed"), message: run.message };
    case "server-job":
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
    case "outside":
      return { ...about, served_by: "outside", state: "running" };
  }
}

function ended(outcome: RunOutcome, result?: Uint8Array) {
  return { state: "finished", outcome, yield: yieldOf(outcome, result) };
}

function base64(bytes: Uint8Array | null | undefined): string | null {
  return bytes ? Buffer.from(bytes).toString("base64") : null;
}
