import { z } from "zod";
import type { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";
import { HandedOutRow, handedOutColumns } from "../leasing/handed-out.store.ts";
import type { LeasedExecution, WorkerProcess } from "../leasing/lease.ts";
import { topLane } from "./fair-lane.ts";
import { openLanes } from "./open-lanes.store.ts";
import type { Busy, Candidate } from "./order-claims.ts";
import { servedBy } from "./served-by.store.ts";

const CandidateRow = z.object({
  id: ExecutionId,
  sizeClass: z.number(),
  lane: z.number(),
  ownerLane: z.number(),
  place: z.number(),
  priority: z.number(),
  queuedAt: z.date(),
  similarityKey: z.string().nullable(),
});

/**
 * Returns the candidates of a worker: the first of every lane, among the executions that it serves.
 *
 * Within a lane the earliest places suffice for every order of orderClaims.
 */
export function claimCandidates(
  tx: Tx,
  worker: { readonly platform: Platform; readonly sizeClass: number },
  assignments: number,
  spare: number,
): Promise<Candidate[]> {
  const most = assignments + spare;
  const served = servedBy(
    sql`requirements`,
    sql`${JSON.stringify(worker.platform)}::jsonb`,
    sql`${worker.sizeClass}::integer`,
  );
  return tx.many(
    CandidateRow,
    sql`
      with recursive ${openLanes(served, worker.sizeClass)},
      share as (
        -- With many lanes open, no single one is needed in its full depth.
        select least(${most}::integer,
          greatest(${Math.min(assignments, 4)}::integer, 4 * ${most}::integer / greatest(1, count(*)))) as deep
        from open_lane
      ),
      first as (
        -- Who is among the first of a lane waits behind a head that is among its first.
        select *, row_number() over (partition by size_class, lane order by place) as nth
        from open_lane
      ),
      waiting as (
        select size_class, lane, owner_lane, id, place, priority, queued_at, akin from first, share
        where nth = 1 and deep = 1 and lane <> ${topLane}
        union all
        select first.size_class, first.lane, following.*
        from share, first cross join lateral (
          select owner_lane, id, place, priority, queued_at, kin[1] as akin from execution
          where state = 'queued' and requirements = first.requirements
            and size_class = first.size_class and lane = first.lane
          order by place
          -- Of the top class all are needed: nobody else may come between them.
          limit case when first.lane = ${topLane} then ${most}::integer else (select deep from share) end
        ) as following
        where nth <= deep and deep > 1 or first.lane = ${topLane}
      )
      select id, size_class as "sizeClass", lane, owner_lane as "ownerLane", place, priority, queued_at as "queuedAt", akin as "similarityKey"
      from (
        select *, row_number() over (partition by size_class, lane order by place) as nth from waiting
      ) as ranked, share
      where nth <= deep or lane = ${topLane} and nth <= ${most}::integer
    `,
  );
}

const LaneRow = z.object({ lane: z.number(), ownerLane: z.number(), leased: z.number() });

/** Returns the number of leased executions of each lane and each owner. */
export async function leasedByLane(tx: Tx): Promise<Busy> {
  const rows = await tx.many(
    LaneRow,
    sql`
      select lane, owner_lane as "ownerLane", count(*) as leased
      from execution where state = 'leased' group by lane, owner_lane
    `,
  );
  const lanes = new Map<number, number>();
  const owners = new Map<number, number>();
  for (const { lane, ownerLane, leased } of rows) {
    lanes.set(lane, (lanes.get(lane) ?? 0) + leased);
    owners.set(ownerLane, (owners.get(ownerLane) ?? 0) + leased);
  }
  return { lanes, owners };
}

/** An execution, and the worker process that it went to. */
interface HandedOut {
  readonly instanceId: string;
  readonly execution: LeasedExecution;
  readonly row: HandedOutRow;
}

/**
 * Leases executions for seats, in the given order, and skips those that are no longer available.
 *
 * `skip locked`: it never waits for a row that another server is leasing. A worker may have several seats.
 */
export async function leaseExecutions(
  tx: Tx,
  ids: readonly ExecutionId[],
  assignments: readonly WorkerProcess[],
  now: Date,
  until: Date,
): Promise<HandedOut[]> {
  const rows = await tx.many(
    HandedOutRow,
    sql`
      with held as (
        select id from execution
        where id = any(${ids}::uuid[]) and state = 'queued'
        order by array_position(${ids}::uuid[], id)
        limit ${assignments.length}
        for update skip locked
      ),
      seated as (select array(select id from held) as ids)
      update execution
      set state = 'leased',
          attempt = attempt + 1,
          epoch = epoch + 1,
          worker = (${assignments.map(({ name }) => name)}::text[])[array_position(seated.ids, id)],
          worker_instance =
            (${assignments.map(({ instanceId }) => instanceId)}::text[])[array_position(seated.ids, id)],
          leased_at = ${now},
          leased_until = ${until},
          started_at = null
      from seated
      where id = any(seated.ids)
      returning ${handedOutColumns}
    `,
  );
  return rows.map((row) => {
    const { id: executionId, attempt, epoch, project, domain, actionDigest, timeoutMs } = row;
    const lease = { executionId, attempt, epoch };
    const execution = { lease, project, domain, actionDigest, timeoutMs };
    return { instanceId: row.workerInstance, execution, row };
  });
}
