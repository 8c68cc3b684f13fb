import { z } from "zod";
import { RunCause, RunOutcome } from "#api/graph.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { yieldOf } from "../advancing/yield-of.ts";
import { GraphId } from "../graph-id.ts";
import type { EndedRun } from "../run.store.ts";
import { type ServerJobEnd, ServerJobKind } from "./server-job-end.ts";

const Locked = z.object({ id: GraphId });

/**
 * Locks graphs with ready jobs of the server, beginning with those that have been ready the longest.
 *
 * Graphs that other servers have locked are skipped, so any number of servers share the work.
 */
export async function lockGraphsToServe(tx: Tx, most: number): Promise<GraphId[]> {
  const rows = await tx.many(
    Locked,
    sql`
      select id from graph
      where id = any(array(
        select graph_id from job
        where state = 'ready' and kind not in ('command', 'graph')
        order by ready_at
        limit ${most * 16}
      ))
      order by id
      limit ${most}
      for update skip locked
    `,
  );
  return rows.map((row) => row.id);
}

const Definition = z.custom<JobDefinition>((body) => typeof body === "object");

const ReadyServerJob = z.object({
  graphId: GraphId,
  job: z.string(),
  kind: ServerJobKind,
  cause: RunCause,
  definition: Definition,
  /** The number of its runs. */
  runs: z.number(),
  /** Where its outputs are. */
  project: z.string(),
  inputRuns: z.record(z.string(), z.number()),
});
export type ReadyServerJob = z.infer<typeof ReadyServerJob>;

/** Returns the ready jobs of locked graphs that the farm itself runs. */
export function readyServerJobs(
  tx: Tx,
  graphs: readonly GraphId[],
  most: number,
): Promise<ReadyServerJob[]> {
  return tx.many(
    ReadyServerJob,
    sql`
      with ready as materialized (
        select job.graph_id, job.name, job.kind, job.wanted, job.definition, job.runs, graph.project
        from unnest(${graphs}::uuid[]) as g (id)
        join graph on graph.id = g.id
        join job on job.graph_id = g.id
        where job.state = 'ready' and job.kind not in ('command', 'graph')
        limit ${most}
      )
      select ready.graph_id as "graphId", ready.name as job, ready.kind, ready.wanted as cause,
             definition.body as definition, ready.runs, ready.project,
             coalesce((
               select jsonb_object_agg(source.name, source.runs)
               from edge join job as source on source.graph_id = edge.graph_id and source.name = edge.on_job
               where edge.graph_id = ready.graph_id and edge.job = ready.name and source.runs > 0
             ), '{}') as "inputRuns"
      from ready join definition on definition.digest = ready.definition
    `,
  );
}

/** Locks graphs with runs that are due at `now`, the longest due first. Graphs that others have locked are skipped. */
export async function lockGraphsDue(tx: Tx, now: Date, most: number): Promise<GraphId[]> {
  const rows = await tx.many(
    Locked,
    sql`
      select id from graph
      where id = any(array(
        select run.graph_id from run
        join job on job.graph_id = run.graph_id and job.name = run.job
        where run.state <> 'finished' and run.served_by = 'farm' and run.due_at <= ${now}
          and job.kind in ('breakpoint', 'timer', 'notify', 'dummy')
        order by run.due_at
        limit ${most * 16}
      ))
      order by id
      limit ${most}
      for update skip locked
    `,
  );
  return rows.map((row) => row.id);
}

const DueServerJob = z.object({
  graphId: GraphId,
  job: z.string(),
  run: z.number(),
  kind: ServerJobKind,
  definition: Definition,
  undelivered: z.string().nullable(),
});
type DueServerJob = z.infer<typeof DueServerJob>;

/** Returns the due runs of locked graphs, without runs of graph jobs, which other code handles. */
export function dueServerJobs(
  tx: Tx,
  graphs: readonly GraphId[],
  now: Date,
  most: number,
): Promise<DueServerJob[]> {
  return tx.many(
    DueServerJob,
    sql`
      select run.graph_id as "graphId", run.job, run.number as run, job.kind, definition.body as definition,
             case when job.kind = 'notify' then (
               select min(url || ' was not told: ' || problem) from notification
               where notification.graph_id = run.graph_id and notification.job = run.job
                 and notification.run = run.number and notification.state = 'failed'
             ) end as undelivered
      from run
      join job on job.graph_id = run.graph_id and job.name = run.job
      join definition on definition.digest = job.definition
      where run.state <> 'finished' and run.served_by = 'farm' and run.due_at <= ${now}
        and run.graph_id = any(${graphs}::uuid[]) and job.kind in ('breakpoint', 'timer', 'notify', 'dummy')
      order by run.due_at
      limit ${most}
    `,
  );
}

type FinishedServerJob = ServerJobEnd & {
  readonly graphId: GraphId;
  readonly job: string;
  readonly run: number;
};

const EndedRow = z.object({
  graphId: GraphId,
  job: z.string(),
  outcome: RunOutcome,
  failureClass: z.string().nullable(),
  cancelRequested: z.boolean(),
});

/**
 * Ends runs that the farm served, or whose items are done. The graphs are locked; a run that has already ended is not
 * changed.
 */
export async function finishServerJobs(
  tx: Tx,
  finished: readonly FinishedServerJob[],
): Promise<EndedRun[]> {
  if (finished.length === 0) return [];
  const rows = finished.map((end) => ({
    graph_id: end.graphId,
    job: end.job,
    number: end.run,
    outcome: end.outcome,
    message: end.message,
    exit_code: end.exitCode,
    failure_class: end.failureClass,
    result: end.result === null ? null : Buffer.from(end.result).toString("base64"),
    yield: yieldOf(end.outcome, end.result ?? undefined),
    set_aside: end.setAside,
  }));
  return tx.many(
    EndedRow,
    sql`
      with ended as (
        update run
        set state = 'finished', outcome = f.outcome, message = f.message, exit_code = f.exit_code,
            failure_class = f.failure_class, result = coalesce(decode(f.result, 'base64'), run.result),
            yield = f.yield, due_at = null,
            started_at = coalesce(run.started_at, now()), finished_at = now()
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as f (graph_id uuid, job text, number integer, outcome text, message text, exit_code integer,
                failure_class text, result text, yield text, set_aside text)
        where run.graph_id = f.graph_id and run.job = f.job and run.number = f.number
          and run.state <> 'finished' and run.served_by in ('farm', 'items')
        returning run.graph_id, run.job, run.outcome, run.failure_class, run.yield, run.message,
                  f.set_aside, run.cancel_asked_at
      ),
      given as (
        update job
        set yield = ended.yield, set_aside = coalesce(ended.set_aside, job.set_aside),
            reason = case when ended.set_aside is null then job.reason else ended.message end
        from ended where job.graph_id = ended.graph_id and job.name = ended.job
      )
      select graph_id as "graphId", job, outcome, failure_class as "failureClass",
             cancel_asked_at is not null as "cancelRequested"
      from ended
    `,
  );
}

const Due = z.object({ at: z.date().nullable() });

/** Returns when the next run that the farm serves is due; undefined when none is. */
export async function nextDue(tx: Tx): Promise<Date | undefined> {
  const [row] = await tx.many(
    Due,
    sql`
      select min(due_at) as at from run
      where state <> 'finished' and served_by = 'farm' and due_at is not null
    `,
  );
  return row?.at ?? undefined;
}

/** Notifies the server-job loops of all servers, at commit, that work may be due earlier than planned. */
export async function wakeServerJobs(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_notify('grange_errand', '')`);
}
