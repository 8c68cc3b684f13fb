import { z } from "zod";
import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ExecutionId } from "../execution.ts";
import type { QueueTimes } from "../queue-times.ts";
import { leasedByLane } from "./claim-executions.store.ts";
import { type Ahead, countAhead } from "./count-ahead.ts";
import type { Head } from "./count-in-lanes.store.ts";
import { lastLane, topLane } from "./fair-lane.ts";
import { isOverdue } from "./is-overdue.ts";
import { isServedBy } from "./is-served-by.ts";
import { openLanes } from "./open-lanes.store.ts";
import { preferIndexes } from "./prefer-indexes.store.ts";
import { queuePlace } from "./queue-place.ts";
import { servedBy } from "./served-by.store.ts";
import { type LaneState, shareOf } from "./turns-ahead.ts";
import { holderAway, soonestFree, type WorkerOffer, workerOffers } from "./worker-offers.store.ts";

/** The position of an execution, for clients that ask why it does not run. */
export type QueuePosition =
  | {
      readonly kind: "leased";
      readonly worker: string;
      /**
       * Present when its worker was silent for longer than a default lease: the last contact, and the end of its lease.
       */
      readonly away: { readonly lastSeenAt: Date; readonly leasedUntil: Date } | undefined;
    }
  | {
      readonly kind: "queued";
      readonly requirements: Platform;
      readonly sizeClass: number;
      readonly isTop: boolean;
      readonly isOverdue: boolean;
      readonly offers: readonly WorkerOffer[];
      /** When a worker that could run it is expected to be free. */
      readonly freeAt: Date | undefined;
      readonly ahead: Ahead;
      /** The share of its workers that its owner may expect, and how much of it is in use. */
      readonly share: number;
      readonly laneRunning: number;
    };

const Requested = z.object({
  state: z.enum(["queued", "leased", "finished"]),
  worker: z.string().nullable(),
  requirements: z.string(),
  sizeClass: z.number(),
  invocation: z.string(),
  lane: z.number(),
  ownerLane: z.number(),
  place: z.number(),
  priority: z.number(),
  queuedAt: z.date(),
  row: z.string(),
});
type Requested = z.infer<typeof Requested>;

/**
 * Returns why an execution waits in the queue; undefined when it is finished or unknown.
 *
 * Run it in a transaction. The number of executions ahead is estimated from the present lanes; it costs as much as a
 * claim, and about a thousand index entries.
 */
export async function queuePosition(
  tx: Tx,
  id: ExecutionId,
  now: Date,
  times: Pick<QueueTimes, "leaseMs" | "overdueAfterMs">,
): Promise<QueuePosition | undefined> {
  await preferIndexes(tx);
  const [asked] = await tx.many(
    Requested,
    sql`
      select state, worker, requirements, size_class as "sizeClass", invocation, lane,
        owner_lane as "ownerLane", place, priority,
        queued_at as "queuedAt", ctid::text as row
      from execution where id = ${id}
    `,
  );
  if (asked === undefined || asked.state === "finished") return undefined;
  const aliveSince = new Date(now.getTime() - times.leaseMs);
  if (asked.state === "leased") {
    return {
      kind: "leased",
      worker: asked.worker ?? "",
      away: await holderAway(tx, id, aliveSince),
    };
  }
  const requirements = Platform.parse(JSON.parse(asked.requirements));
  const offers = await workerOffers(tx, aliveSince);
  const kind = { requirements, sizeClass: asked.sizeClass };
  const suitable = offers.filter((offer) => offer.condition === "alive" && isServedBy(kind, offer));
  const overdue = isOverdue(asked, now, times.overdueAfterMs);
  const about = {
    kind: "queued" as const,
    requirements,
    sizeClass: asked.sizeClass,
    isTop: asked.lane === topLane,
    isOverdue: overdue,
    offers,
  };
  if (suitable.length === 0) {
    const ahead = { top: 0, sameInvocation: 0, others: 0, isMore: false };
    return { ...about, freeAt: undefined, ahead, share: 1, laneRunning: 0 };
  }
  // Executions for which no client waits are not ahead of others.
  const heads = (await lanesOf(tx, suitable)).filter(
    ({ lane }) => lane !== lastLane || asked.lane === lastLane,
  );
  const leased = await leasedByLane(tx);
  const open = laneStates(heads, leased.lanes);
  return {
    ...about,
    freeAt: await soonestFree(tx, asked.requirements, asked.sizeClass, aliveSince),
    ahead: await countAhead(
      tx,
      asked,
      heads,
      { open, ownersLeased: leased.owners },
      {
        isOverdue: overdue,
        overduePlace: queuePlace({
          queuedAt: new Date(now.getTime() - times.overdueAfterMs),
          priority: 0,
          timeoutMs: Number.MAX_SAFE_INTEGER,
        }),
      },
    ),
    share: shareOf(
      asked.lane,
      open.filter(({ lane }) => lane !== topLane),
    ),
    laneRunning: leased.lanes.get(asked.lane) ?? 0,
  };
}

const HeadRow = z.object({
  requirements: z.string(),
  sizeClass: z.number(),
  lane: z.number(),
  ownerLane: z.number(),
  place: z.number(),
  priority: z.number(),
});

/** Returns the first execution of each lane that one of the workers could run. */
function lanesOf(tx: Tx, suitable: readonly WorkerOffer[]): Promise<Head[]> {
  const platforms = suitable.map(({ platform }) => JSON.stringify(platform));
  const sizeClasses = suitable.map(({ sizeClass }) => sizeClass);
  const served = sql`exists (
    select from unnest(${platforms}::jsonb[], ${sizeClasses}::integer[]) as offer (platform, size_class)
    where ${servedBy(sql`requirements`, sql`offer.platform`, sql`offer.size_class`)})`;
  return tx.many(
    HeadRow,
    sql`
      with recursive ${openLanes(served, Math.max(...sizeClasses))}
      select requirements, size_class as "sizeClass", lane, owner_lane as "ownerLane", place, priority
      from open_lane
    `,
  );
}

function laneStates(heads: readonly Head[], leased: ReadonlyMap<number, number>): LaneState[] {
  const first = new Map<number, Head>();
  for (const head of heads) {
    const known = first.get(head.lane);
    if (known === undefined || head.place < known.place) first.set(head.lane, head);
  }
  return [...first.values()].map(({ lane, ownerLane, priority }) => ({
    lane,
    ownerLane,
    priority,
    leased: leased.get(lane) ?? 0,
  }));
}
