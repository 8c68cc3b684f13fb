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
  /** In how many ms the first of them stands where fresh work of usual priority does; 0 or less for what has waited. */
  dueInMs: z.number(),
  /** How long each is expected to take; null when nobody foresaw it. */
  eachMs: z.number().nullable(),
});
/** Executions in the queue that ask for the same, are about as urgent, and about as long. */
export type QueuedDemand = z.infer<typeof QueuedDemand>;

/** What is between two of them counts as alike. */
const dueBoundsMs = [0, 30_000, 120_000, 600_000, 3_600_000];
const lengthBoundsMs = [1_000, 10_000, 60_000, 300_000, 1_800_000];

/**
 * All that waits in the queue, in few rows: a low priority says how much later it may start, until it has waited.
 *
 * Of a long queue what goes first is looked at, and the rest is counted and thought to be like it. Run it in a
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
  /** `silent`: not heard of since a lease's length; `draining`: takes nothing new. */
  condition: z.enum(["alive", "draining", "silent"]),
  registeredAt: z.date(),
  finished: z.number(),
  /** Executions that it holds, begun or not. */
  held: z.number(),
  /** How long they are expected to go on. What takes longer than expected is thought to go on as long again. */
  remainingMs: z.number(),
  /** How long those of them that somebody foresaw take in all, and how many those are. */
  foreseenMs: z.number(),
  foreseen: z.number(),
});
export type WorkerLoad = z.infer<typeof WorkerLoad>;

/** What each worker does, those included that are gone: what they finished was asked for. */
export function workerLoads(
  tx: Tx,
  now: Date,
  aliveSince: Date,
  /** Of what nobody foresaw. */
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
