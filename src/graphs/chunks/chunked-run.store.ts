import { z } from "zod";
import { type Digest, digestKey } from "#core/digest.ts";
import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { GraphId } from "../graph-id.ts";
import type { ResolvedImages } from "../resolved-image.ts";
import type { WaitingItem } from "./make-batches.ts";

/** A new run of a chunked job: its items, and the common data of its batches. */
export interface NewChunkedRun {
  readonly graphId: GraphId;
  readonly job: string;
  readonly items: readonly { readonly item: string; readonly estimateMs: number }[];
  readonly inputRoot: Digest;
  readonly platform: Platform;
  readonly sizeClass: number;
  readonly min: number;
  readonly max: number;
  readonly budgetMs: number;
  readonly retries: number;
  /** Whether its batches are executed even if the action cache has their results. */
  readonly skipCache: boolean;
  /** The container images that all its batches use in place of those in the definition. */
  readonly images: ResolvedImages;
}

export interface ChunkedRunKey {
  readonly graphId: GraphId;
  readonly job: string;
  readonly run: number;
}

/** Stores the items of new runs; the runs are stored, and the graphs locked. */
export async function insertChunkedRun(tx: Tx, run: NewChunkedRun): Promise<void> {
  await tx.run(sql`
    insert into chunked_run (graph_id, job, run, repository, input_root, platform, size_class,
                             min_batches, max_batches, budget_ms, retries, skip_cache, images)
    select job.graph_id, job.name, job.runs, graph.repository, ${digestKey(run.inputRoot)},
           ${JSON.stringify(run.platform)}::jsonb, ${run.sizeClass}, ${run.min}, ${run.max},
           ${run.budgetMs}, ${run.retries}, ${run.skipCache},
           ${JSON.stringify(run.images)}::jsonb
    from job join graph on graph.id = job.graph_id
    where job.graph_id = ${run.graphId} and job.name = ${run.job}
  `);
  await tx.run(sql`
    insert into work_item (graph_id, job, run, item, estimate_ms)
    select job.graph_id, job.name, job.runs, i.item, i.ms
    from job, unnest(${run.items.map(({ item }) => item)}::text[],
                     ${run.items.map(({ estimateMs }) => estimateMs)}::double precision[]) as i (item, ms)
    where job.graph_id = ${run.graphId} and job.name = ${run.job}
  `);
}

const ChunkedRun = z.object({
  graphId: GraphId,
  job: z.string(),
  run: z.number(),
  platform: Platform,
  sizeClass: z.number(),
  min: z.number(),
  max: z.number(),
  budgetMs: z.number(),
  retries: z.number(),
  underWay: z.number(),
  running: z.number(),
});
type ChunkedRun = z.infer<typeof ChunkedRun>;

/** Returns the unfinished runs of these jobs, with their batches counted. The graphs are locked. */
export function chunkedRunsOf(
  tx: Tx,
  jobs: readonly { readonly graphId: GraphId; readonly job: string }[],
): Promise<ChunkedRun[]> {
  return tx.many(
    ChunkedRun,
    sql`
      select chunked_run.graph_id as "graphId", chunked_run.job, chunked_run.run, platform,
             size_class as "sizeClass", min_batches as min, max_batches as max,
             budget_ms as "budgetMs", retries,
             (select count(*) from work_batch as b
              where b.graph_id = chunked_run.graph_id and b.job = chunked_run.job
                and b.run = chunked_run.run and b.state <> 'finished') as "underWay",
             (select count(*) from work_batch as b
              where b.graph_id = chunked_run.graph_id and b.job = chunked_run.job
                and b.run = chunked_run.run and b.state = 'running') as running
      from chunked_run
      join run on run.graph_id = chunked_run.graph_id and run.job = chunked_run.job
        and run.number = chunked_run.run
      join (select distinct * from unnest(${jobs.map(({ graphId }) => graphId)}::uuid[],
                  ${jobs.map(({ job }) => job)}::text[]) as k (graph_id, job)) as k
        on k.graph_id = chunked_run.graph_id and k.job = chunked_run.job
      where chunked_run.state = 'working' and run.state = 'running' and run.cancel_asked_at is null
    `,
  );
}

const WaitingRow = z.object({
  item: z.string(),
  estimateMs: z.number(),
  again: z.number().nullable(),
});

export function waitingItems(tx: Tx, { graphId, job, run }: ChunkedRunKey): Promise<WaitingItem[]> {
  return tx.many(
    WaitingRow,
    sql`
      select item, estimate_ms as "estimateMs", again from work_item
      where graph_id = ${graphId} and job = ${job} and run = ${run} and state = 'waiting'
    `,
  );
}

/** Adds batches to a run, and their items to them. */
export async function insertBatches(
  tx: Tx,
  { graphId, job, run }: ChunkedRunKey,
  batches: readonly (readonly string[])[],
): Promise<void> {
  if (batches.length === 0) return;
  const rows = batches.flatMap((items, nth) => items.map((item) => ({ item, nth: nth + 1 })));
  await tx.run(sql`
    with last as (
      select coalesce(max(number), 0) as number from work_batch
      where graph_id = ${graphId} and job = ${job} and run = ${run}
    ),
    added as (
      insert into work_batch (graph_id, job, run, number)
      select ${graphId}, ${job}, ${run}, last.number + nth
      from last, generate_series(1, ${batches.length}) as nth
    )
    update work_item set state = 'batched', batch = last.number + i.nth, again = null
    from last, unnest(${rows.map(({ item }) => item)}::text[],
                      ${rows.map(({ nth }) => nth)}::integer[]) as i (item, nth)
    where graph_id = ${graphId} and job = ${job} and run = ${run} and work_item.item = i.item
  `);
}

/** Marks runs whose items have all ended, so that their outputs are gathered. Returns whether there was one. */
export async function markItemsOver(
  tx: Tx,
  { graphId, job, run }: ChunkedRunKey,
): Promise<boolean> {
  const marked = await tx.run(sql`
    update chunked_run set state = 'gathering'
    where graph_id = ${graphId} and job = ${job} and run = ${run} and state = 'working'
      and not exists (
        select from work_item
        where work_item.graph_id = chunked_run.graph_id and work_item.job = chunked_run.job
          and work_item.run = chunked_run.run and work_item.state in ('waiting', 'batched'))
  `);
  return marked > 0;
}

const HistoryRow = z.object({ item: z.string(), ms: z.number() });

/** Returns the recent durations of a job's items, in ms, in all graphs of the same repository. */
export async function itemHistory(
  tx: Tx,
  graphId: GraphId,
  job: string,
): Promise<Map<string, number>> {
  const rows = await tx.many(
    HistoryRow,
    sql`
      select item, duration_ms as ms from item_history
      where job = ${job} and repository = (select repository from graph where id = ${graphId})
      limit 200000
    `,
  );
  return new Map(rows.map(({ item, ms }) => [item, ms]));
}

const KeyRow = z.object({ graphId: GraphId, job: z.string() });

/** Returns chunked runs with items that are in no batch. */
export function runsWithWaitingItems(tx: Tx): Promise<z.infer<typeof KeyRow>[]> {
  return tx.many(
    KeyRow,
    sql`
      select graph_id as "graphId", job from chunked_run
      where state = 'working' and exists (
        select from work_item
        where work_item.graph_id = chunked_run.graph_id and work_item.job = chunked_run.job
          and work_item.run = chunked_run.run and work_item.state = 'waiting')
      limit 1000
    `,
  );
}
