import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import { ExecutionId } from "#execution/execution.ts";
import { GraphId } from "../graph-id.ts";

export const WaitingJob = z.object({
  graphId: GraphId,
  job: z.string(),
  /** The execution that serves its run; null before it has one. */
  executionId: ExecutionId.nullable(),
});
/** A job that waits for its start. */
export type WaitingJob = z.infer<typeof WaitingJob>;

/** Jobs as the rows `(graph_id, name)`. */
export function namedJobs(jobs: readonly WaitingJob[]): Sql {
  return sql`unnest(${jobs.map(({ graphId }) => graphId)}::uuid[], ${jobs.map(({ job }) => job)}::text[])`;
}

/** Returns a condition on `job`: its run waits in the queue with one of these executions. */
export function isQueuedWith(executions: readonly ExecutionId[]): Sql {
  return sql`job.state = 'queued' and exists (
    select from run
    where run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
      and run.state = 'queued' and run.execution_id = any(${executions}::uuid[]))`;
}

const Execution = z.object({ id: ExecutionId });

/** Returns those of the executions that no run needs any more. */
export async function executionsOfNobody(
  tx: Tx,
  ids: readonly ExecutionId[],
): Promise<ExecutionId[]> {
  const rows = await tx.many(
    Execution,
    sql`
      select id from unnest(${ids}::uuid[]) as id
      where not exists (select from run where run.execution_id = id and run.state <> 'finished')
      order by id
    `,
  );
  return rows.map(({ id }) => id);
}
