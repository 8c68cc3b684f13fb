import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "#execution/execution.ts";
import type { Urgency } from "#execution/replace-executions.store.ts";
import type { GraphId } from "./graph-id.ts";

/** The executions that serve a graph's runs now. */
export async function executionsOfGraph(tx: Tx, graphId: GraphId): Promise<ExecutionId[]> {
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      select distinct execution_id as id from run
      where graph_id = ${graphId} and state <> 'finished' and execution_id is not null
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

/** Where a graph runs, and how soon its jobs are wanted. */
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
 * Stores how soon a graph is wanted; its lock must be held.
 *
 * What is being prepared with the old priority is taken out of those hands, and prepared again.
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
  await tx.run(sql`
    update job set preparing_epoch = preparing_epoch + 1, preparing_until = null
    where graph_id = ${graphId} and state = 'ready' and preparing_until is not null
  `);
  await tx.run(sql`select pg_notify('grange_graph', ${graphId}::text)`);
  await tx.run(sql`select pg_notify('grange_ready', '')`);
}

/**
 * How soon executions are wanted by all who wait for them.
 *
 * One may serve jobs of several graphs: it goes by the one in the greatest hurry.
 */
export function urgencyOf(tx: Tx, executions: readonly ExecutionId[]): Promise<Urgency[]> {
  return tx.many(
    z.object({ id: ExecutionId, priority: z.number(), top: z.boolean() }),
    sql`
      select run.execution_id as id, bool_or(graph.top) as top,
        -- REv2's lower is sooner; people's higher is. least() passes over the null of no cap.
        0 - max(least(graph.priority + job.priority, graph.priority_cap)) as priority
      from run
      join job on job.graph_id = run.graph_id and job.name = run.job
      join graph on graph.id = run.graph_id
      where run.execution_id = any(${executions}::uuid[]) and run.state <> 'finished'
      group by run.execution_id
    `,
  );
}
