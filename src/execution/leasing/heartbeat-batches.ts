import type { Clock } from "#core/clock.ts";
import { type Coalescer, coalescer } from "#core/coalescer.ts";
import type { Db } from "#db/db.ts";
import { preferIndexes } from "../claiming/prefer-indexes.store.ts";
import type { QueueHooks } from "../queue-hooks.ts";
import { type Heartbeat, type HeartbeatAnswer, takeHeartbeats } from "./heartbeat.ts";
import { reviveLeases } from "./revive-leases.ts";

/** Processes heartbeats; those that arrive during a commit share the next one. */
export function heartbeatBatches(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly hooks: QueueHooks;
}): Coalescer<Heartbeat, HeartbeatAnswer> {
  const { db, clock, leaseMs, hooks } = parts;
  return coalescer(async (beats: readonly Heartbeat[]) => {
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
  });
}
