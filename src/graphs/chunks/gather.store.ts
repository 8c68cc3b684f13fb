import { z } from "zod";
import { RunOutcome } from "#api/graph.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { GraphId } from "../graph-id.ts";
import type { ChunkedRunKey } from "./chunked-run.store.ts";
import type { BatchKey } from "./work-batch.store.ts";

const Bytes = z.instanceof(Uint8Array);

const RunToGather = z.object({
  graphId: GraphId,
  job: z.string(),
  run: z.number(),
  /** Where its outputs are. */
  project: z.string(),
  definition: z.custom<JobDefinition>((body) => typeof body === "object"),
});
export type RunToGather = z.infer<typeof RunToGather>;

/** Takes runs whose items have all ended; no other server takes them until `until`. */
export function takeRunsToGather(
  tx: Tx,
  now: Date,
  until: Date,
  most: number,
): Promise<RunToGather[]> {
  return tx.many(
    RunToGather,
    sql`
      with ready as (
        select graph_id, job, run from chunked_run
        where state = 'gathering' and (gathering_until is null or gathering_until <= ${now})
        limit ${most}
        for update skip locked
      ),
      taken as (
        update chunked_run set gathering_until = ${until}
        from ready
        where chunked_run.graph_id = ready.graph_id and chunked_run.job = ready.job
          and chunked_run.run = ready.run
        returning chunked_run.graph_id, chunked_run.job, chunked_run.run
      )
      select taken.graph_id as "graphId", taken.job, taken.run, graph.project, definition.body as definition
      from taken
      join graph on graph.id = taken.graph_id
      join job on job.graph_id = taken.graph_id and job.name = taken.job
      join definition on definition.digest = job.definition
    `,
  );
}

const GatheredBatch = z.object({ number: z.number(), result: Bytes });

/** The results of the successful batches, in order. */
export function resultsOfBatches(
  tx: Tx,
  { graphId, job, run }: ChunkedRunKey,
): Promise<z.infer<typeof GatheredBatch>[]> {
  return tx.many(
    GatheredBatch,
    sql`
      select number, result from work_batch
      where graph_id = ${graphId} and job = ${job} and run = ${run} and state = 'finished'
        and outcome = 'succeeded' and result is not null
      order by number
    `,
  );
}

const FailedItems = z.object({
  failed: z.number(),
  names: z.array(z.string()),
  outcome: RunOutcome.nullable(),
  message: z.string().nullable(),
});

/** Returns the items that were given up: their number, some names, and the end of the last batch with one of them. */
export async function failedItems(
  tx: Tx,
  { graphId, job, run }: ChunkedRunKey,
): Promise<z.infer<typeof FailedItems>> {
  const [row] = await tx.many(
    FailedItems,
    sql`
      with failed as (
        select item, batch from work_item
        where graph_id = ${graphId} and job = ${job} and run = ${run} and state = 'failed'
      ),
      last as (
        select outcome, message from work_batch
        where graph_id = ${graphId} and job = ${job} and run = ${run}
          and number = (select max(batch) from failed)
      )
      select (select count(*) from failed) as failed,
             array(select item from failed order by item limit 5) as names,
             (select outcome from last) as outcome, (select message from last) as message
    `,
  );
  return row ?? { failed: 0, names: [], outcome: null, message: null };
}

/** Records that nothing is left to do for a run. */
export async function markRunOver(tx: Tx, { graphId, job, run }: ChunkedRunKey): Promise<void> {
  await tx.run(sql`
    update chunked_run set state = 'over', gathering_until = null
    where graph_id = ${graphId} and job = ${job} and run = ${run}
  `);
}

const BatchToMeasure = z.object({
  graphId: GraphId,
  job: z.string(),
  run: z.number(),
  number: z.number(),
  /** Where its outputs are. */
  project: z.string(),
  ms: z.number(),
  result: Bytes.nullable(),
  resultsPath: z.string().nullable(),
  items: z.array(z.object({ item: z.string(), estimateMs: z.number() })),
});
export type BatchToMeasure = z.infer<typeof BatchToMeasure>;

/** Takes executed batches whose items' durations are not stored yet. */
export function takeBatchesToMeasure(tx: Tx, most: number): Promise<BatchToMeasure[]> {
  return tx.many(
    BatchToMeasure,
    sql`
      with ended as (
        select graph_id, job, run, number from work_batch
        where state = 'finished' and not measured
        order by finished_at
        limit ${most}
        for update skip locked
      ),
      taken as (
        update work_batch set measured = true
        from ended
        where work_batch.graph_id = ended.graph_id and work_batch.job = ended.job
          and work_batch.run = ended.run and work_batch.number = ended.number
        returning work_batch.*
      )
      select taken.graph_id as "graphId", taken.job, taken.run, taken.number, graph.project, taken.result,
             extract(epoch from taken.finished_at - taken.started_at)::double precision * 1000 as ms,
             definition.body -> 'chunks' ->> 'results' as "resultsPath",
             (select json_agg(json_build_object('item', item, 'estimateMs', estimate_ms)) from work_item
              where work_item.graph_id = taken.graph_id and work_item.job = taken.job
                and work_item.run = taken.run and work_item.batch = taken.number) as items
      from taken
      join graph on graph.id = taken.graph_id
      join job on job.graph_id = taken.graph_id and job.name = taken.job
      join definition on definition.digest = job.definition
      where taken.outcome = 'succeeded' and taken.started_at is not null
    `,
  );
}

/** Stores the durations of a batch's items, for this run and as history. */
export async function keepDurations(
  tx: Tx,
  { graphId, job, run }: Omit<BatchKey, "number">,
  durations: readonly { readonly item: string; readonly ms: number }[],
): Promise<void> {
  const items = durations.map(({ item }) => item);
  const ms = durations.map((one) => one.ms);
  await tx.run(sql`
    update work_item set duration_ms = d.ms
    from unnest(${items}::text[], ${ms}::double precision[]) as d (item, ms)
    where graph_id = ${graphId} and job = ${job} and run = ${run} and work_item.item = d.item
  `);
  await tx.run(sql`
    insert into item_history (repository, job, item, duration_ms)
    select graph.repository, ${job}, d.item, d.ms
    from graph, unnest(${items}::text[], ${ms}::double precision[]) as d (item, ms)
    where graph.id = ${graphId}
    order by d.item
    on conflict (repository, job, item) do update
    set duration_ms = (item_history.duration_ms + excluded.duration_ms) / 2, measured_at = now()
  `);
}

const CancelledRun = z.object({
  graphId: GraphId,
  job: z.string(),
  run: z.number(),
  executions: z.array(z.uuid().brand<"ExecutionId">()),
});

/** Returns chunked runs whose cancellation was requested, with the executions of their batches. */
export function chunkedRunsToCancel(tx: Tx): Promise<z.infer<typeof CancelledRun>[]> {
  return tx.many(
    CancelledRun,
    sql`
      select run.graph_id as "graphId", run.job, run.number as run,
             array(select execution_id from work_batch
                   where work_batch.graph_id = run.graph_id and work_batch.job = run.job
                     and work_batch.run = run.number and work_batch.state in ('queued', 'running')
                   order by 1) as executions
      from run
      where run.state <> 'finished' and run.cancel_asked_at is not null and run.served_by = 'items'
      limit 20
    `,
  );
}

/** Ends a run's unfinished batches. */
export async function cancelBatches(tx: Tx, { graphId, job, run }: ChunkedRunKey): Promise<void> {
  await tx.run(sql`
    update work_batch set state = 'finished', outcome = 'cancelled', finished_at = now(), measured = true
    where graph_id = ${graphId} and job = ${job} and run = ${run} and state <> 'finished'
  `);
}

const Unwanted = z.object({ id: z.uuid().brand<"ExecutionId">() });

/** Returns those of the locked executions that serve no run and no batch any more. */
export async function executionsServingNobody(
  tx: Tx,
  executions: readonly ExecutionId[],
): Promise<ExecutionId[]> {
  const rows = await tx.many(
    Unwanted,
    sql`
      select id from unnest(${executions}::uuid[]) as e (id)
      where not exists (select from run where run.execution_id = e.id and run.state <> 'finished')
        and not exists (
          select from work_batch
          where work_batch.execution_id = e.id and work_batch.state in ('queued', 'running'))
      order by id
    `,
  );
  return rows.map((row) => row.id);
}
