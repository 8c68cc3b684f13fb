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

/** How long a client waits for a worker that does not exist. A machine that is started for it is there sooner. */
export const usualUnservedMs = 15 * 60_000;

/** A worker that was seen so lately is only away, however impatient the farm is: its machine may be starting again. */
const awayMs = usualUnservedMs;

/** Looked at in one go, and ended in one transaction. */
const mostAtOnce = 10_000;
const perTransaction = 500;

/**
 * Ends operations that no worker of the farm could serve for so long: their clients would wait for ever,
 * and not be told. Answers how many.
 *
 * Graphs' jobs go on waiting, for pages say what for; an execution that one shares goes on for it.
 */
export async function endUnserved(
  db: Db,
  queue: CancellingQueue,
  times: {
    readonly now: Date;
    /** Since when somebody looks. After a time without servers, workers have the whole time to come back. */
    readonly openSince: Date;
    readonly unservedMs?: number;
    /** Workers of which some may be started, though none was ever seen. */
    readonly declared?: readonly SeenOffer[];
  },
): Promise<number> {
  const { now, openSince, unservedMs = usualUnservedMs, declared = [] } = times;
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
  // As nearly always: nobody's operations are looked at.
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

/** Executions are locked first, as by all who end operations: one that was handed out meanwhile goes on. */
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
