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
  /** The sum of the expected remaining times of its executions. Those without an estimate are not included. */
  remainingMs: z.number(),
  /** The lowest number of CPUs that one of them gives an action; null when none reports it. */
  cpus: z.number().nullable(),
  memoryBytes: z.number().nullable(),
});
/** Workers of a platform and size class that are alive and accept work. */
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
  /** The number of those with an estimate, and the sum of their durations. */
  foreseen: z.number(),
  foreseenMs: z.number(),
});
/** Queued executions with equal requirements. */
export type QueuedWork = z.infer<typeof QueuedWork>;

/** The limit for one query, over all kinds: about 10 ms. */
const mostLookedAt = 20_000;
/** The lowest number that is read per kind, for any number of kinds. */
const fewest = 20;

/**
 * Selects the kinds in the queue, and the first executions of each: of long queues not all.
 *
 * Common table expressions for a `with recursive`: `each (most)`, the number that is read of a kind, and `looked_at
 * (requirements, size_class, …)`. Executions for which no client waits are left out: they delay no other, and no
 * machine is started for them.
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
 * Returns the waiting executions of each kind; for long queues only the first part, so there may be more.
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
