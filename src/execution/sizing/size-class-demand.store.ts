import { z } from "zod";
import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { claimsNothing } from "../claiming/drain.store.ts";
import { lastLane, topLane } from "../claiming/fair-lane.ts";
import { delayOfPriorityMs, strongestPriority } from "../claiming/queue-place.ts";
import { lookedAt } from "./size-class-offers.store.ts";

const Requirements = z.string().transform((text) => Platform.parse(JSON.parse(text)));

const QueuedDemand = z.object({
  requirements: Requirements,
  sizeClass: z.number(),
  executions: z.number(),
  /**
   * The time in ms until the first of them has the place of a new execution of default priority; 0 or less for one that
   * has waited.
   */
  dueInMs: z.number(),
  /** The expected duration of each; null when there is no estimate. */
  eachMs: z.number().nullable(),
});
/** Executions in the queue with equal requirements and similar urgency and duration. */
export type QueuedDemand = z.infer<typeof QueuedDemand>;

/** Executions between two of these bounds count as equal. */
const dueBoundsMs = [0, 30_000, 120_000, 600_000, 3_600_000];
const lengthBoundsMs = [1_000, 10_000, 60_000, 300_000, 1_800_000];

/**
 * Returns all waiting executions, summarised in few rows; for low priorities, also how much later they may start.
 *
 * Of a long queue, the first executions are read, and the rest is counted and assumed to be similar. Run it in a
 * transaction that prefers indexes.
 */
export function queuedDemand(tx: Tx, now: Date): Promise<QueuedDemand[]> {
  return tx.many(
    QueuedDemand,
    sql`
      with recursive ${lookedAt},
      urgent as (
        select requirements, size_class, expected_duration_ms,
          case when lane = ${topLane} then 0 else
            ${delayOfPriorityMs(1)}::double precision
              * least(greatest(priority, ${-strongestPriority}::integer), ${strongestPriority}::integer)
            - 1000 * extract(epoch from ${now}::timestamptz - queued_at)::double precision
          end as due_in_ms
        from looked_at
      ),
      alike as (
        select requirements, size_class, count(*) as executions, min(due_in_ms) as due_in_ms,
          avg(expected_duration_ms)::double precision as each_ms
        from urgent
        group by requirements, size_class,
          width_bucket(due_in_ms, ${dueBoundsMs}::double precision[]),
          width_bucket(expected_duration_ms::double precision, ${lengthBoundsMs}::double precision[])
      ),
      -- Counted once, whatever the planner thinks of joining it.
      whole as materialized (
        select requirements, size_class, sum(executions) as looked_at,
          case when sum(executions) < (select most from each) then sum(executions) else (
            select count(*) from execution
            where state = 'queued' and execution.requirements = alike.requirements
              and execution.size_class = alike.size_class and lane < ${lastLane}::smallint
          ) end as executions
        from alike group by requirements, size_class
      )
      select requirements, size_class as "sizeClass", due_in_ms as "dueInMs", each_ms as "eachMs",
        round(alike.executions * whole.executions / whole.looked_at)::bigint as executions
      from alike join whole using (requirements, size_class)
    `,
  );
}

const WorkerLoad = z.object({
  name: z.string(),
  platform: Platform,
  sizeClass: z.number(),
  slots: z.number(),
  /** `silent`: silent for longer than a lease; `draining`: accepts nothing new. */
  condition: z.enum(["alive", "draining", "silent"]),
  registeredAt: z.date(),
  finished: z.number(),
  /** Executions that it holds, started or not. */
  held: z.number(),
  /**
   * Their expected remaining time. One that already took longer than expected is assumed to take the same time again.
   */
  remainingMs: z.number(),
  /** The expected total duration of those with an estimate, and their number. */
  foreseenMs: z.number(),
  foreseen: z.number(),
});
export type WorkerLoad = z.infer<typeof WorkerLoad>;

/**
 * Returns the load of each worker, including workers that no longer exist, because the executions that they finished
 * are also demand.
 */
export function workerLoads(
  tx: Tx,
  now: Date,
  aliveSince: Date,
  /** The duration to assume for executions without an estimate. */
  unforeseenMs: number,
): Promise<WorkerLoad[]> {
  return tx.many(
    WorkerLoad,
    sql`
      with running as (
        select worker, expected_duration_ms::double precision as expected_ms,
          greatest(0, 1000 * extract(epoch from
            ${now}::timestamptz - coalesce(started_at, ${now}::timestamptz)))::double precision as elapsed_ms
        from execution where state = 'leased'
      ),
      held as (
        select worker, count(*) as executions, count(expected_ms) as foreseen,
          coalesce(sum(expected_ms), 0) as foreseen_ms,
          sum(coalesce(abs(expected_ms - elapsed_ms),
            greatest(elapsed_ms, ${unforeseenMs}::double precision))) as remaining_ms
        from running group by worker
      )
      select name, platform, size_class as "sizeClass", slots, registered_at as "registeredAt",
        case when last_seen_at < ${aliveSince} then 'silent'
          when ${claimsNothing} then 'draining' else 'alive' end as condition,
        finished_count as finished, coalesce(executions, 0) as held,
        coalesce(remaining_ms, 0) as "remainingMs",
        coalesce(foreseen_ms, 0) as "foreseenMs", coalesce(foreseen, 0) as foreseen
      from worker left join held on held.worker = worker.name
      order by name
    `,
  );
}
