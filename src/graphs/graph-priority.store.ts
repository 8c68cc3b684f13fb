import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "#execution/execution.ts";
import type { Urgency } from "#execution/submitting/replace-executions.store.ts";
import type { GraphId } from "./graph-id.ts";

/** Returns the executions that currently serve a graph's runs and their batches. */
export async function executionsOfGraph(tx: Tx, graphId: GraphId): Promise<ExecutionId[]> {
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      select execution_id as id from run
      where graph_id = ${graphId} and state <> 'finished' and execution_id is not null
      union
      select execution_id from work_batch
      where graph_id = ${graphId} and state in ('queued', 'running')
    `,
  );
  return rows.map(({ id }) => id);
}

const Place = z.object({
  repository: z.string(),
  branch: z.string(),
  priority: z.number(),
  top: z.boolean(),
  /** The highest priority that a job of it may reach; null for no cap. */
  cap: z.number().nullable(),
});

/** Returns the place of a graph and the priority of its jobs. */
export async function graphPlace(
  tx: Tx,
  graphId: GraphId,
): Promise<z.infer<typeof Place> | undefined> {
  const [row] = await tx.many(
    Place,
    sql`select repository, branch, priority, top, priority_cap as cap from graph where id = ${graphId}`,
  );
  return row;
}

/**
 * Stores the priority of a graph; its lock must be held.
 *
 * Jobs that are being prepared with the old priority are corrected when they are stored, under the same lock.
 */
export async function savePriority(
  tx: Tx,
  graphId: GraphId,
  { priority, top, cap }: { priority: number; top: boolean; cap: number | null },
): Promise<void> {
  await tx.run(sql`
    update graph
    set priority = ${priority}, top = ${top}, priority_cap = ${cap}, version = version + 1
    where id = ${graphId}
  `);
  await tx.run(sql`select pg_notify('grange_graph', ${graphId}::text)`);
}

/** Returns a job's own priority, by its definition or its customisation; undefined when there is no such job. */
export async function priorityOfJob(
  tx: Tx,
  graphId: GraphId,
  job: string,
): Promise<number | undefined> {
  const [row] = await tx.many(
    z.object({ priority: z.number() }),
    sql`select priority from job where graph_id = ${graphId} and name = ${job}`,
  );
  return row?.priority;
}

/** Stores a job's own priority; the graph's lock must be held. A customisation replaces it by that of the definition. */
export async function saveJobPriority(
  tx: Tx,
  graphId: GraphId,
  job: string,
  priority: number,
): Promise<void> {
  await tx.run(sql`
    with changed as (
      update graph set version = version + 1 where id = ${graphId} returning id, version
    )
    update job set priority = ${priority}, version = changed.version
    from changed
    where job.graph_id = changed.id and job.name = ${job}
  `);
  await tx.run(sql`select pg_notify('grange_graph', ${graphId}::text)`);
}

/**
 * Returns the priority of executions, from everything that waits for them.
 *
 * One execution may serve jobs of several graphs: the highest priority counts.
 */
export function urgencyOf(tx: Tx, executions: readonly ExecutionId[]): Promise<Urgency[]> {
  return tx.many(
    z.object({ id: ExecutionId, priority: z.number(), top: z.boolean() }),
    sql`
      select waiting.execution_id as id, bool_or(graph.top) as top,
        -- REv2's lower is sooner; people's higher is. least() passes over the null of no cap.
        0 - max(least(graph.priority + job.priority, graph.priority_cap)) as priority
      from (
        select execution_id, graph_id, job from run
        where execution_id = any(${executions}::uuid[]) and state <> 'finished'
        union all
        select execution_id, graph_id, job from work_batch
        where execution_id = any(${executions}::uuid[]) and state in ('queued', 'running')
      ) as waiting
      join job on job.graph_id = waiting.graph_id and job.name = waiting.job
      join graph on graph.id = waiting.graph_id
      group by waiting.execution_id
    `,
  );
}
