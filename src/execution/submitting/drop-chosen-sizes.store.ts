import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { lastLane } from "../claiming/fair-lane.ts";
import { greatestSizeClass, isServedBy } from "../claiming/is-served-by.ts";
import { preferIndexes } from "../claiming/prefer-indexes.store.ts";
import { ExecutionId } from "../execution.ts";
import { notifyExecutions, notifyQueue } from "../notify.store.ts";
import { requirementsText } from "./check-request.ts";
import { offersSeen, type QueuedKind, queuedKinds, type SeenOffer } from "./queued-kinds.store.ts";

const perTurn = 500;

const Bounds = z.object({ least: z.number(), most: z.number().nullable() });
type Bounds = z.infer<typeof Bounds>;

/**
 * Lets executions run on any class that their clients allow, if no worker has the class that the farm chose.
 *
 * The farm itself chose the bounds: executions would otherwise wait for workers that no longer exist, and fail for lack
 * of workers, although others could run them. Returns how many were changed; call it until that is 0.
 *
 * @param seenSince A worker that was seen since then may come back. @param declared Workers that may be started.
 */
export async function dropChosenSizes(
  tx: Tx,
  seenSince: Date,
  declared: readonly SeenOffer[],
): Promise<number> {
  await preferIndexes(tx);
  const offers = [...(await offersSeen(tx, seenSince)), ...declared];
  let count = 0;
  for (const kind of await queuedKinds(tx)) {
    if (isServed(kind, offers)) continue;
    // Nearly all calls find none.
    for (const bounds of await boundsOf(tx, kind)) {
      const requested = asRequested(kind, bounds);
      if (isServed(requested, offers))
        count += await dropBounds(tx, kind, bounds, textOf(requested));
    }
  }
  return count;
}

function isServed(kind: QueuedKind, offers: readonly SeenOffer[]): boolean {
  return offers.some((offer) => isServedBy(kind, offer));
}

function asRequested({ requirements }: QueuedKind, { least, most }: Bounds): QueuedKind {
  const { [greatestSizeClass]: _, ...unbounded } = requirements;
  const bound = most === null ? {} : { [greatestSizeClass]: String(most) };
  return { requirements: { ...unbounded, ...bound }, sizeClass: least };
}

function textOf({ requirements }: QueuedKind): string {
  const most = requirements[greatestSizeClass];
  return requirementsText(requirements, most === undefined ? undefined : Number(most));
}

/** Returns the requests of executions for which the farm chose these bounds. */
function boundsOf(tx: Tx, kind: QueuedKind): Promise<Bounds[]> {
  return tx.many(
    Bounds,
    sql`
      select distinct least_size_class as least, most_size_class as most from execution
      where state = 'queued' and requirements = ${textOf(kind)} and size_class = ${kind.sizeClass}
        and is_sized
    `,
  );
}

async function dropBounds(
  tx: Tx,
  kind: QueuedKind,
  { least, most }: Bounds,
  requirements: string,
): Promise<number> {
  const changed = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      with held as (
        select id from execution
        where state = 'queued' and requirements = ${textOf(kind)} and size_class = ${kind.sizeClass}
          and least_size_class = ${least} and most_size_class is not distinct from ${most}::integer
          and is_sized
        limit ${perTurn}
        for update skip locked
      )
      update execution
      set size_class = least_size_class, requirements = ${requirements},
          timeout_ms = coalesce(asked_timeout_ms, timeout_ms), hedge_after_ms = null,
          hedge_size_class = null
      where id = any(array(select id from held))
      returning id
    `,
  );
  if (changed.length > 0) {
    await notifyQueue(tx);
    await notifyExecutions(
      tx,
      changed.map(({ id }) => id),
    );
  }
  return changed.length;
}

/** Returns runs that only measure and were queued before `queuedBefore`: a new one is submitted when it is needed. */
export async function staleBackgroundRuns(tx: Tx, queuedBefore: Date): Promise<ExecutionId[]> {
  await preferIndexes(tx);
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      select id from execution
      where state = 'queued' and lane = ${lastLane} and queued_at < ${queuedBefore}
      limit ${perTurn}
    `,
  );
  return rows.map(({ id }) => id);
}
