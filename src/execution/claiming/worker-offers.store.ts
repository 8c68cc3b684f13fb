import { z } from "zod";
import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ExecutionId } from "../execution.ts";
import { claimsNothing } from "./drain.store.ts";
import { servedBy } from "./served-by.store.ts";

const WorkerOffer = z.object({
  platform: Platform,
  sizeClass: z.number(),
  /** `silent`: silent for longer than a lease; `draining`: accepts nothing new, or can run nothing. */
  condition: z.enum(["alive", "draining", "silent"]),
  workers: z.number(),
  /** The number of them without a free slot. */
  busy: z.number(),
  lastSeenAt: z.date(),
  /** Why one of them can run nothing at present, as it reported; null when none reported a problem. */
  trouble: z.string().nullable(),
});
/** Workers that are equal for the queue. */
export type WorkerOffer = z.infer<typeof WorkerOffer>;

/** Returns the offers of workers, grouped by equal offers. */
export function workerOffers(tx: Tx, aliveSince: Date): Promise<WorkerOffer[]> {
  return tx.many(
    WorkerOffer,
    sql`
      with held as (
        select worker, count(*) as executions from execution where state = 'leased' group by worker
      )
      select platform, size_class as "sizeClass", condition, count(*) as workers,
        count(*) filter (where coalesce(executions, 0) >= slots) as busy,
        max(last_seen_at) as "lastSeenAt", min(trouble) as trouble
      from worker
      left join held on held.worker = worker.name
      cross join lateral (
        select case when last_seen_at < ${aliveSince} then 'silent'
          when ${claimsNothing} then 'draining' else 'alive' end as condition
      ) as judged
      group by platform, size_class, condition
      order by size_class, platform::text
    `,
  );
}

/**
 * Returns when the first worker that serves the requirements is expected to have a free slot.
 *
 * Undefined when the durations of their executions are unknown. The time may be in the past when an execution takes
 * longer than expected.
 */
export async function soonestFree(
  tx: Tx,
  requirements: string,
  sizeClass: number,
  aliveSince: Date,
): Promise<Date | undefined> {
  const [row] = await tx.many(
    z.object({ at: z.date().nullable() }),
    sql`
      select min(coalesce(started_at, leased_at) + expected_duration_ms * interval '1 millisecond') as at
      from execution join worker on worker.name = execution.worker
      where state = 'leased' and worker.size_class >= ${sizeClass} and not ${claimsNothing}
        and last_seen_at >= ${aliveSince}
        and ${servedBy(sql`${requirements}`, sql`platform`, sql`worker.size_class`)}
    `,
  );
  return row?.at ?? undefined;
}

/**
 * Returns when the worker that holds an execution was last heard of, if that is before `aliveSince`, and how long its
 * lease lasts. Undefined otherwise.
 */
export async function holderAway(
  tx: Tx,
  id: ExecutionId,
  aliveSince: Date,
): Promise<{ readonly lastSeenAt: Date; readonly leasedUntil: Date } | undefined> {
  const [away] = await tx.many(
    z.object({ lastSeenAt: z.date(), leasedUntil: z.date() }),
    sql`
      select last_seen_at as "lastSeenAt", leased_until as "leasedUntil"
      from execution join worker on worker.name = execution.worker
      where execution.id = ${id} and state = 'leased' and last_seen_at < ${aliveSince}
    `,
  );
  return away;
}
