import { z } from "zod";
import { RunCause, RunOutcome } from "#api/graph.ts";
import { type Digest, DigestText, digestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { ExecutionId } from "#execution/execution.ts";
import type { Progress } from "#execution/queue-hooks.ts";
import { GraphId } from "../graph-id.ts";
import type { JobUrgency } from "../ready-job.store.ts";
import type { ChunkedRunKey } from "./chunked-run.store.ts";

const PlannedBatch = z.object({
  graphId: GraphId,
  job: z.string(),
  run: z.number(),
  number: z.number(),
  items: z.array(z.string()),
  inputRoot: DigestText,
  definition: z.custom<JobDefinition>((body) => typeof body === "object"),
  cause: RunCause,
  skipCache: z.boolean(),
  /** The container images that the run was prepared with. */
  images: z.record(z.string(), z.string()),
  submittedBy: z.string(),
  /** Where its inputs, outputs and results are. */
  project: z.string(),
  domain: TrustDomain,
  priority: z.number(),
  top: z.boolean(),
  /** The trace of the graph; null when it is not traced. */
  traceId: z.string().nullable(),
});
/** A batch whose action must be prepared. */
export type PlannedBatch = z.infer<typeof PlannedBatch>;

/** Takes planned batches, the longest planned first; no other server takes them until `until`. */
export function takePlannedBatches(
  tx: Tx,
  now: Date,
  until: Date,
  most: number,
): Promise<PlannedBatch[]> {
  return tx.many(
    PlannedBatch,
    sql`
      with planned as (
        select graph_id, job, run, number from work_batch
        where state = 'planned' and (preparing_until is null or preparing_until <= ${now})
        order by planned_at, number
        limit ${most}
        for update skip locked
      ),
      taken as (
        update work_batch set preparing_until = ${until}
        from planned
        where work_batch.graph_id = planned.graph_id and work_batch.job = planned.job
          and work_batch.run = planned.run and work_batch.number = planned.number
        returning work_batch.graph_id, work_batch.job, work_batch.run, work_batch.number
      )
      select taken.graph_id as "graphId", taken.job, taken.run, taken.number,
             array(select item from work_item
                   where work_item.graph_id = taken.graph_id and work_item.job = taken.job
                     and work_item.run = taken.run and work_item.batch = taken.number
                     and work_item.state = 'batched') as items,
             chunked_run.input_root as "inputRoot", definition.body as definition, run.cause,
             chunked_run.skip_cache as "skipCache", chunked_run.images, graph.project, graph.domain,
             graph.submitted_by as "submittedBy", least(graph.priority + job.priority, graph.priority_cap) as priority, graph.top,
             (select trace_id from graph_span where graph_span.graph_id = graph.id) as "traceId"
      from taken
      join chunked_run on chunked_run.graph_id = taken.graph_id and chunked_run.job = taken.job
        and chunked_run.run = taken.run
      join run on run.graph_id = taken.graph_id and run.job = taken.job and run.number = taken.run
      join job on job.graph_id = taken.graph_id and job.name = taken.job
      join definition on definition.digest = job.definition
      join graph on graph.id = taken.graph_id
    `,
  );
}

export interface BatchKey extends ChunkedRunKey {
  readonly number: number;
}

/**
 * Assigns an execution to a batch, and returns the batch's current priority; undefined when the batch must not begin
 * any more. The graph is locked.
 */
export async function queueBatch(
  tx: Tx,
  { graphId, job, run, number }: BatchKey,
  actionDigest: Digest,
  executionId: ExecutionId,
): Promise<JobUrgency | undefined> {
  const [wanted] = await tx.many(
    PlannedBatch.pick({ priority: true, top: true }),
    sql`
      update work_batch
      set state = 'queued', action_digest = ${digestKey(actionDigest)}, execution_id = ${executionId}
      from graph, job
      where work_batch.graph_id = ${graphId} and work_batch.job = ${job}
        and work_batch.run = ${run} and work_batch.number = ${number} and work_batch.state = 'planned'
        and graph.id = ${graphId} and job.graph_id = ${graphId} and job.name = ${job}
      returning least(graph.priority + job.priority, graph.priority_cap) as priority, graph.top
    `,
  );
  return wanted;
}

/** How a batch ended. */
export interface BatchEnd {
  readonly outcome: RunOutcome;
  readonly message: string | null;
  readonly worker: string | null;
  readonly startedAt: Date | null;
  /** An REv2 ActionResult, binary. */
  readonly result: Uint8Array | null;
  readonly cached: boolean;
}

const EndedBatch = z.object({
  graphId: GraphId,
  job: z.string(),
  run: z.number(),
  number: z.number(),
  outcome: RunOutcome,
});
export type EndedBatch = z.infer<typeof EndedBatch>;

/** Ends the batches that executions served. The graphs are locked. */
export function finishBatchesOf(
  tx: Tx,
  ends: readonly (BatchEnd & { readonly executionId: ExecutionId })[],
): Promise<(EndedBatch & { readonly executionId: ExecutionId })[]> {
  const rows = ends.map((end) => ({ id: end.executionId, ...asColumns(end) }));
  return tx.many(
    EndedBatch.extend({ executionId: ExecutionId }),
    sql`
      update work_batch
      set state = 'finished', outcome = e.outcome, message = e.message, worker = e.worker,
          started_at = coalesce(e.started_at, work_batch.started_at), finished_at = now(),
          result = decode(e.result, 'base64')
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as e (id uuid, outcome text, message text, worker text, started_at timestamptz, result text)
      where work_batch.execution_id = e.id and work_batch.state in ('queued', 'running')
      returning work_batch.graph_id as "graphId", work_batch.job, work_batch.run, work_batch.number,
                work_batch.outcome, work_batch.execution_id as "executionId"
    `,
  );
}

/** Ends a batch that never had an execution: its action's result was known, or its action could not be made. */
export function finishPlannedBatch(
  tx: Tx,
  { graphId, job, run, number }: BatchKey,
  end: BatchEnd,
): Promise<EndedBatch[]> {
  const row = asColumns(end);
  return tx.many(
    EndedBatch,
    sql`
      update work_batch
      set state = 'finished', outcome = ${row.outcome}, message = ${row.message}, cached = ${end.cached},
          measured = true, finished_at = now(), result = decode(${row.result}, 'base64')
      where graph_id = ${graphId} and job = ${job} and run = ${run} and number = ${number}
        and state = 'planned'
      returning graph_id as "graphId", job, run, number, outcome
    `,
  );
}

function asColumns(end: BatchEnd) {
  return {
    outcome: end.outcome,
    message: end.message,
    worker: end.worker,
    started_at: end.startedAt,
    result: end.result === null ? null : Buffer.from(end.result).toString("base64"),
  };
}

const MovedBatch = z.object({ graphId: GraphId, job: z.string() });

/** Records whether batches run, or wait again. */
export function moveBatches(
  tx: Tx,
  progress: readonly Progress[],
): Promise<z.infer<typeof MovedBatch>[]> {
  return tx.many(
    MovedBatch,
    sql`
      update work_batch
      set state = case when p.started then 'running' else 'queued' end,
          started_at = case when p.started then now() end
      from unnest(${progress.map(({ id }) => id)}::uuid[],
                  ${progress.map(({ kind }) => kind === "started")}::boolean[]) as p (id, started)
      where work_batch.execution_id = p.id and work_batch.state in ('queued', 'running')
      returning work_batch.graph_id as "graphId", work_batch.job
    `,
  );
}

/** Records that the items of successful batches are done. */
export async function markItemsDone(tx: Tx, batches: readonly BatchKey[]): Promise<void> {
  await tx.run(sql`
    update work_item set state = 'done'
    from unnest(${batches.map(({ graphId }) => graphId)}::uuid[], ${batches.map(({ job }) => job)}::text[],
                ${batches.map(({ run }) => run)}::integer[], ${batches.map(({ number }) => number)}::integer[])
      as b (graph_id, job, run, number)
    where work_item.graph_id = b.graph_id and work_item.job = b.job and work_item.run = b.run
      and work_item.batch = b.number and work_item.state = 'batched'
  `);
}

const FailedRow = z.object({ item: z.string(), failures: z.number() });

/** Counts a batch's failure for each of its items. Returns the items in the order of the list. */
export async function countFailure(
  tx: Tx,
  { graphId, job, run, number }: BatchKey,
): Promise<z.infer<typeof FailedRow>[]> {
  const rows = await tx.many(
    FailedRow,
    sql`
      update work_item set failures = failures + 1
      where graph_id = ${graphId} and job = ${job} and run = ${run} and batch = ${number}
        and state = 'batched'
      returning item, failures
    `,
  );
  return rows.toSorted((a, b) => (a.item < b.item ? -1 : 1));
}

/** Queues groups of a batch's items for a retry, each group separately; gives up the others. */
export async function regroupItems(
  tx: Tx,
  { graphId, job, run, number }: BatchKey,
  again: readonly (readonly string[])[],
  failed: readonly string[],
): Promise<void> {
  // A batch leaves at most two groups, so twice its number is unique.
  const rows = [
    ...again.flatMap((items, i) => items.map((item) => ({ item, again: 2 * number + i }))),
    ...failed.map((item) => ({ item, again: null })),
  ];
  await tx.run(sql`
    update work_item
    set state = case when i.again is null then 'failed' else 'waiting' end, again = i.again
    from unnest(${rows.map(({ item }) => item)}::text[], ${rows.map((row) => row.again)}::integer[])
      as i (item, again)
    where graph_id = ${graphId} and job = ${job} and run = ${run} and work_item.item = i.item
  `);
}
