import { platformKey } from "#core/platform.ts";
import type { Db } from "#db/db.ts";
import { whyUnserved } from "#execution/claiming/why-unserved.ts";
import type { ExecutionId } from "#execution/execution.ts";
import {
  lockQueued,
  offersSeen,
  type QueuedKind,
  queuedAmong,
  queuedKinds,
  type SeenOffer,
} from "#execution/submitting/queued-kinds.store.ts";
import type { CancellingQueue } from "./cancel-operations.ts";
import { notifyOperations } from "./operation.store.ts";
import { endUnservedOperations, executionsRequestedBefore } from "./unserved-operations.store.ts";

/** How long a client waits for a worker that does not exist. A machine that is started for it is ready sooner. */
export const defaultUnservedMs = 15 * 60_000;

/**
 * A worker that was seen within this time counts as temporarily away, even with a shorter limit of the farm: its
 * machine may be restarting.
 */
const awayMs = defaultUnservedMs;

/** The number that is checked at once and ended in one transaction. */
const mostAtOnce = 10_000;
const perTransaction = 500;

/**
 * Ends operations that no worker of the farm could serve for this long, because their clients would wait forever
 * without a message. Returns their number.
 *
 * Jobs of graphs continue to wait, because pages show the reason; an execution that such a job shares continues for the
 * job.
 */
export async function endUnserved(
  db: Db,
  queue: CancellingQueue,
  times: {
    readonly now: Date;
    /**
     * The time since which servers have been running. After a time without servers, workers get the full time to
     * reconnect.
     */
    readonly openSince: Date;
    readonly unservedMs?: number;
    /** Declared workers, which may be started although none was ever seen. */
    readonly declared?: readonly SeenOffer[];
  },
): Promise<number> {
  const { now, openSince, unservedMs = defaultUnservedMs, declared = [] } = times;
  const before = new Date(now.getTime() - unservedMs);
  if (openSince > before) return 0;
  const kinds = await queuedKinds(db);
  if (kinds.length === 0) return 0;
  const seenSince = new Date(now.getTime() - Math.max(unservedMs, awayMs));
  const offers = [...(await offersSeen(db, seenSince)), ...declared];
  const reasons = new Map(
    kinds.flatMap((kind): [string, string][] => {
      const why = whyUnserved(kind, offers);
      return why === undefined ? [] : [[keyOf(kind), why]];
    }),
  );
  // The usual case, in which no operations are read.
  if (reasons.size === 0) return 0;

  const unserved = new Map<string, ExecutionId[]>();
  const requested = await executionsRequestedBefore(db, before, mostAtOnce);
  for (const { id, ...kind } of await queuedAmong(db, requested)) {
    const why = reasons.get(keyOf(kind));
    if (why !== undefined) unserved.set(why, [...(unserved.get(why) ?? []), id]);
  }
  let ended = 0;
  for (const [why, ids] of unserved) {
    const because = `no worker of this farm could run it for ${timeText(unservedMs)}: ${why}`;
    for (let at = 0; at < ids.length; at += perTransaction) {
      ended += await end(queue, ids.slice(at, at + perTransaction), { now, before, because });
    }
  }
  return ended;
}

/** Locks executions first, like all code that ends operations: an execution that was leased meanwhile continues. */
async function end(
  queue: CancellingQueue,
  ids: readonly ExecutionId[],
  how: { readonly now: Date; readonly before: Date; readonly because: string },
): Promise<number> {
  const { count, after } = await queue.transaction(async (tx) => {
    const ended = await endUnservedOperations(tx, await lockQueued(tx, ids), how);
    await notifyOperations(
      tx,
      ended.map(({ id }) => id),
    );
    const executions = [...new Set(ended.map(({ executionId }) => executionId))];
    return { count: ended.length, after: await queue.cancel(tx, executions) };
  });
  after();
  return count;
}

function timeText(ms: number): string {
  return ms >= 60_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 1_000)} s`;
}

function keyOf({ requirements, sizeClass }: QueuedKind): string {
  return `${sizeClass} ${platformKey(requirements)}`;
}
