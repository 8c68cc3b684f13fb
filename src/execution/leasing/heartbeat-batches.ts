import type { Clock } from "#core/clock.ts";
import { type Coalescer, coalescer } from "#core/coalescer.ts";
import type { Db } from "#db/db.ts";
import { preferIndexes } from "../claiming/prefer-indexes.store.ts";
import type { QueueHooks } from "../queue-hooks.ts";
import { type Heartbeat, type HeartbeatAnswer, takeHeartbeats } from "./heartbeat.ts";
import { reviveLeases } from "./revive-leases.ts";

/** The most heartbeats in one transaction. */
const most = 1_000;

/**
 * Idle heartbeats are stored at most this many times in the heartbeat interval of a worker. The heartbeats of a batch are
 * answered together, so their workers send the next ones together: with batches of hundreds, a server would do nothing
 * else for a tenth of a second each time.
 */
const idleBatchesPerInterval = 12;

/**
 * Processes heartbeats; those that arrive during a commit share the next one.
 *
 * Heartbeats that say only that an idle worker is alive wait up to a twelfth of the heartbeat interval for each other:
 * nobody needs their answers soon, and thousands of idle workers would otherwise keep the database busy with transactions for
 * one row each.
 */
export function heartbeatBatches(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly hooks: QueueHooks;
}): Coalescer<Heartbeat, HeartbeatAnswer> {
  const { db, clock, leaseMs, heartbeatMs, hooks } = parts;
  const take = async (beats: readonly Heartbeat[]) => {
    const answers = await db.transaction((tx) => takeHeartbeats(tx, beats, clock.now(), leaseMs));
    const answered = beats.flatMap((beat, at) => {
      const answer = answers[at];
      return answer === undefined ? [] : [{ beat, answer }];
    });
    if (answered.every(({ answer }) => answer.lost.length === 0)) return answers;
    const revived = await db.transaction(async (tx) => {
      await preferIndexes(tx);
      // The next heartbeat extends them by the time that the worker requested.
      const until = new Date(clock.now().getTime() + leaseMs);
      return reviveLeases(tx, answered, until, hooks);
    });
    revived.after();
    return revived.answers;
  };
  const soon = coalescer(take, most);
  const idle = coalescer(take, most, heartbeatMs / idleBatchesPerInterval);
  return {
    add: (beat) => (isIdle(beat) ? idle : soon).add(beat),
    async idle() {
      await Promise.all([soon.idle(), idle.idle()]);
    },
  };
}

/** Returns whether a heartbeat says only that a worker without work is alive. */
function isIdle({ leases, draining, trouble, images }: Heartbeat): boolean {
  return leases.length === 0 && !draining && trouble === undefined && images === undefined;
}
