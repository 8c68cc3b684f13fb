import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";
import { RunOutput } from "../job-detail.store.ts";

/** Returns everything that is needed to read a batch's log; undefined when there is no such batch. */
export async function batchOutput(
  tx: Tx,
  graphId: GraphId,
  job: string,
  run: number,
  batch: number,
): Promise<RunOutput | undefined> {
  const [row] = await tx.many(
    RunOutput,
    sql`
      select graph.project, execution_id as "executionId", action_digest as "actionDigest", 1 as attempt, result,
             null::uuid as "cachedFromGraph", null as "cachedFromJob"
      from work_batch join graph on graph.id = work_batch.graph_id
      where graph_id = ${graphId} and job = ${job} and run = ${run} and work_batch.number = ${batch}
    `,
  );
  return row;
}
