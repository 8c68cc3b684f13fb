import { z } from "zod";
import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import { claimsNothing } from "../claiming/drain.store.ts";
import { lastLane } from "../claiming/fair-lane.ts";
import { waitingKinds } from "../submitting/queued-kinds.store.ts";

const WorkersUp = z.object({
  platform: Platform,
  sizeClass: z.number(),
  workers: z.number(),
  slots: z.number(),
  busySlots: z.number(),
  /** How long what they hold is expected to go on, summed up. What nobody foresaw is not in it. */
  remainingMs: z.number(),
  /** The least that one of them gives an action; null when none says. */
  cpus: z.number().nullable(),
  memoryBytes: z.number().nullable(),
});
/** Workers of a platform and size class that are heard of and take work. */
export type WorkersUp = z.infer<typeof WorkersUp>;

export function workersUp(tx: Tx, now: Date, aliveSince: Date): Promise<WorkersUp[]> {
  return tx.many(
    WorkersUp,
    sql`
      with held as (
        select worker, count(*) as executions,
          sum(greatest(0, expected_duration_ms
            - 1000 * extract(epoch from ${now}::timestamptz - coalesce(started_at, ${now}::timestamptz))
          )) as remaining_ms
        from execution where state = 'leased' group by worker
      )
      select platform, size_class as "sizeClass", count(*) as workers, sum(slots) as slots,
        sum(least(slots, coalesce(executions, 0)))::bigint as "busySlots",
        coalesce(sum(remaining_ms), 0)::double precision as "remainingMs",
        min(cpus) as cpus, min(memory_bytes) as "memoryBytes"
      from worker left join held on held.worker = worker.name
      where last_seen_at >= ${aliveSince} and not ${claimsNothing}
      group by platform, size_class
      order by size_class, platform::text
    `,
  );
}

const Requirements = z.string().transform((text) => Platform.parse(JSON.parse(text)));

const QueuedWork = z.object({
  requirements: Requirements,
  sizeClass: z.number(),
  executions: z.number(),
  /** Those of them of which somebody foresaw how long they take, and how long that is in all. */
  foreseen: z.number(),
  foreseenMs: z.number(),
});
/** What waits in the queue and is alike to workers. */
export type QueuedWork = z.infer<typeof QueuedWork>;

/** Looked at in one go, in all kinds together: some 10 ms. */
const mostLookedAt = 20_000;
/** Of each kind, however many there are. */
const fewest = 20;

/**
 * The kinds in the queue, and what goes first of each: of long queues not all.
 *
 * Common table expressions for a `with recursive`: `each (most)`, how many of a kind are looked at, and
 * `looked_at (requirements, size_class, …)`.
 * What nobody waits for is left out: it is in nobody's way, and no machine is started for it.
 */
export const lookedAt: Sql = sql`
  ${waitingKinds},
  each as (
    select greatest(${fewest}::integer, ${mostLookedAt}::integer / greatest(1, count(*))) as most
    from kind
  ),
  looked_at as (
    select first.* from kind cross join lateral (
      select requirements, size_class, lane, priority, queued_at, expected_duration_ms from execution
      where state = 'queued' and execution.requirements = kind.requirements
        and execution.size_class = kind.size_class and lane < ${lastLane}::smallint
      order by requirements, size_class, lane, place
      limit (select most from each)
    ) as first
  )
`;

/**
 * How much of each kind waits in the queue: of long queues only what goes first, so it may be more.
 *
 * Run it in a transaction that prefers indexes.
 */
export function queuedWork(tx: Tx): Promise<QueuedWork[]> {
  return tx.many(
    QueuedWork,
    sql`
      with recursive ${lookedAt}
      select requirements, size_class as "sizeClass", count(*) as executions,
        count(expected_duration_ms) as foreseen,
        coalesce(sum(expected_duration_ms), 0)::double precision as "foreseenMs"
      from looked_at group by requirements, size_class
    `,
  );
}
