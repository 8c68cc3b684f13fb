import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "#execution/execution.ts";
import { GraphId } from "./graph-id.ts";

const Name = z.object({ name: z.string() });

export async function markCancelled(tx: Tx, graphId: GraphId): Promise<void> {
  await tx.run(sql`
    update graph set cancel_asked_at = coalesce(cancel_asked_at, now())
    where id = ${graphId} and state = 'running'
  `);
}

/** Removes the run requests of jobs that are still waiting; of all jobs when none are named. Returns the jobs. */
export async function dropRequests(
  tx: Tx,
  graphId: GraphId,
  jobs?: readonly string[],
): Promise<string[]> {
  // A join keeps its request, whether it is open or not. Otherwise it would count as succeeded while a job that it
  // gathers runs again, and the jobs after it would not wait.
  const rows = await tx.many(
    Name,
    sql`
      update job set wanted = null, runs_left = 0
      where graph_id = ${graphId} and wanted is not null and state in ('blocked', 'unreachable', 'ready')
        and not (kind = 'join' and runs > 0)
        and (${jobs === undefined} or name = any(${jobs ?? []}::text[]))
      returning name
    `,
  );
  return rows.map((row) => row.name);
}

/** Marks queued runs as to be cancelled. Returns their jobs. */
export async function askToCancel(
  tx: Tx,
  graphId: GraphId,
  jobs?: readonly string[],
): Promise<string[]> {
  const rows = await tx.many(
    Name,
    sql`
      update run set cancel_asked_at = now()
      where graph_id = ${graphId} and state <> 'finished' and cancel_asked_at is null
        and (${jobs === undefined} or job = any(${jobs ?? []}::text[]))
      returning job as name
    `,
  );
  return rows.map((row) => row.name);
}

const Execution = z.object({ id: ExecutionId });

/**
 * Ends at once the runs that no execution serves, because nothing else would end them.
 *
 * Workers that share a job's items have executions, which end first.
 */
export async function finishRunsWithoutExecution(tx: Tx, graphId: GraphId): Promise<void> {
  await tx.run(sql`
    with ended as (
      update run
      set state = 'finished', outcome = 'cancelled', yield = 'cancelled', finished_at = now(), due_at = null
      where graph_id = ${graphId} and state <> 'finished' and cancel_asked_at is not null
        and served_by in ('farm', 'outside')
      returning graph_id, job
    )
    update job set yield = 'cancelled', runs_left = 0
    from ended where job.graph_id = ended.graph_id and job.name = ended.job
  `);
}

/** Returns executions that serve a run whose end was requested. */
export async function executionsRequestedToEnd(tx: Tx): Promise<ExecutionId[]> {
  const rows = await tx.many(
    Execution,
    sql`
      select distinct execution_id as id
      from run
      where state <> 'finished' and cancel_asked_at is not null and execution_id is not null
      order by 1
    `,
  );
  return rows.map((row) => row.id);
}

const EndedRun = z.object({ graphId: GraphId, job: z.string() });

/**
 * Ends the cancelled runs whose executions are locked and still needed by others.
 *
 * Without the lock, two such runs of one execution would each rely on the other to end it.
 */
export function finishSharedRuns(
  tx: Tx,
  wanted: readonly ExecutionId[],
): Promise<z.infer<typeof EndedRun>[]> {
  return tx.many(
    EndedRun,
    sql`
      with ended as (
        update run
        set state = 'finished', outcome = 'cancelled', yield = 'cancelled', finished_at = now()
        where execution_id = any(${wanted}::uuid[])
          and state <> 'finished' and cancel_asked_at is not null
        returning graph_id, job
      )
      update job set yield = 'cancelled', runs_left = 0
      from ended where job.graph_id = ended.graph_id and job.name = ended.job
      returning job.graph_id as "graphId", job.name as job
    `,
  );
}

/**
 * Returns those of the executions that a run or a batch waits for. A run with a requested cancellation does not count.
 */
export async function executionsWantedByRuns(
  tx: Tx,
  executions: readonly ExecutionId[],
): Promise<ExecutionId[]> {
  const rows = await tx.many(
    Execution,
    sql`
      select execution_id as id from run
      where execution_id = any(${executions}::uuid[]) and state <> 'finished'
        and cancel_asked_at is null
      union
      select execution_id from work_batch
      where execution_id = any(${executions}::uuid[]) and state in ('queued', 'running')
    `,
  );
  return rows.map((row) => row.id);
}

const CancelledRun = z.object({ job: z.string(), executionId: ExecutionId });

/**
 * Returns the executions that served cancelled runs of a graph, and of graphs that its jobs have
 * made.
 */
export function executionsOfCancelledRuns(
  tx: Tx,
  graphId: GraphId,
): Promise<z.infer<typeof CancelledRun>[]> {
  return tx.many(
    CancelledRun,
    sql`
      with recursive within (id) as (
        select ${graphId}::uuid
        union all
        select graph.id from graph join within on graph.parent_id = within.id
        where graph.parent_kind = 'subgraph'
      )
      select job, execution_id as "executionId" from run
      where graph_id in (select id from within) and cancel_asked_at is not null and execution_id is not null
      union
      select work_batch.job, work_batch.execution_id
      from work_batch join run on run.graph_id = work_batch.graph_id and run.job = work_batch.job
        and run.number = work_batch.run
      where work_batch.graph_id in (select id from within) and run.cancel_asked_at is not null
        and work_batch.execution_id is not null
    `,
  );
}
