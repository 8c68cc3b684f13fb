import { z } from "zod";
import type { Batch, ChunkProgress } from "#api/chunk.ts";
import { RunOutcome } from "#api/graph.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "#execution/execution.ts";
import { readExecutions } from "#execution/read-executions.store.ts";
import type { GraphId } from "../graph-id.ts";

const isoTime = z.date().transform((date) => date.toISOString());

const ProgressRow = z.object({
  run: z.number(),
  items: z.number(),
  done: z.number(),
  failed: z.number(),
});

const BatchRow = z.object({
  number: z.number(),
  state: z.enum(["planned", "queued", "running", "finished"]),
  items: z.number(),
  outcome: RunOutcome.nullable(),
  message: z.string().nullable(),
  cached: z.boolean(),
  worker: z.string().nullable(),
  executionId: z.string().nullable(),
  startedAt: isoTime.nullable(),
  finishedAt: isoTime.nullable(),
});

/** Returns the progress of a job's latest run; undefined when it has no items. */
export async function chunkProgress(
  tx: Tx,
  graphId: GraphId,
  job: string,
): Promise<ChunkProgress | undefined> {
  const [progress] = await tx.many(
    ProgressRow,
    sql`
      select run, count(*) as items, count(*) filter (where state = 'done') as done,
             count(*) filter (where state = 'failed') as failed
      from work_item
      where graph_id = ${graphId} and job = ${job}
        and run = (select max(run) from chunked_run where graph_id = ${graphId} and job = ${job})
      group by run
    `,
  );
  if (progress === undefined) return undefined;
  const batches = await tx.many(
    BatchRow,
    sql`
      select number, state, outcome, message, cached, worker, execution_id as "executionId",
             started_at as "startedAt", finished_at as "finishedAt",
             (select count(*) from work_item
              where work_item.graph_id = work_batch.graph_id and work_item.job = work_batch.job
                and work_item.run = work_batch.run and work_item.batch = work_batch.number) as items
      from work_batch
      where graph_id = ${graphId} and job = ${job} and run = ${progress.run}
      order by number desc
      limit 200
    `,
  );
  return { ...progress, batches: await withWorkers(tx, batches) };
}

/** Adds the names of workers to unfinished batches; ended batches already have them. */
async function withWorkers(tx: Tx, batches: readonly Batch[]): Promise<Batch[]> {
  const underWay = batches.flatMap(({ state, executionId }) =>
    state === "running" && executionId !== null ? [ExecutionId.parse(executionId)] : [],
  );
  if (underWay.length === 0) return [...batches];
  const workers = new Map<string, string>();
  for (const { id, state } of await readExecutions(tx, underWay)) {
    if (state.kind === "leased") workers.set(id, state.worker);
  }
  return batches.map((batch) => ({
    ...batch,
    worker: batch.worker ?? workers.get(batch.executionId ?? "") ?? null,
  }));
}
