import type { Clock } from "#core/clock.ts";
import { type Coalescer, coalescer } from "#core/coalescer.ts";
import type { Db } from "#db/db.ts";
import { together } from "#db/together.ts";
import { commitWithoutWaiting, preferIndexes } from "../claiming/prefer-indexes.store.ts";
import { notifyExecutions } from "../notify.store.ts";
import type { QueueHooks } from "../queue-hooks.ts";
import { currentLeases, markStarted } from "./lease.store.ts";
import { type Lease, leaseKey } from "./lease.ts";
import type { LeasesHere } from "./leases-here.ts";

/** The start of a lease's process, in the worker's clock. */
interface LeaseStart {
  readonly lease: Lease;
  readonly at: Date;
}

/**
 * Records starts of processes; those that arrive during a commit share the next one. Returns whether each lease is
 * still held.
 */
export function leaseStarts(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly leases: LeasesHere;
  readonly hooks: QueueHooks;
}): Coalescer<LeaseStart, boolean> {
  const { db, clock, leases, hooks } = parts;
  return coalescer(async (starts: readonly LeaseStart[]) => {
    const named = starts.map(({ lease }) => lease);
    for (const lease of named) leases.forget(lease);
    const { current, afterCommit } = await db.transaction(async (tx) => {
      // If a crash loses it, only pages lack it.
      await commitWithoutWaiting(tx);
      await preferIndexes(tx);
      const started = await markStarted(tx, starts, clock.now());
      const [current, afterCommit] = await together([
        currentLeases(tx, named),
        started.length === 0
          ? undefined
          : hooks.onProgress?.(
              tx,
              started.map(({ executionId: id, attempt }) => ({ id, kind: "started", attempt })),
            ),
        // This server is notified like the others, because a start is less urgent than an end.
        notifyExecutions(
          tx,
          started.map(({ executionId }) => executionId),
        ),
      ]);
      return { current: new Set(current.map(leaseKey)), afterCommit };
    });
    afterCommit?.();
    return named.map((lease) => current.has(leaseKey(lease)));
  });
}
