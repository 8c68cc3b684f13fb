import type { Tx } from "#db/db.ts";
import { together } from "#db/together.ts";
import { commitWithoutWaiting, preferIndexes } from "../claiming/prefer-indexes.store.ts";
import { extendLeases, lockLeases } from "./lease.store.ts";
import { type Lease, leaseKey, type WorkerProcess } from "./lease.ts";
import { noteEnding, recordWorkersSeen } from "./worker.store.ts";

export interface Heartbeat {
  readonly worker: WorkerProcess;
  readonly leases: readonly Lease[];
  /** The worker finishes its leases and does not claim new ones. */
  readonly draining: boolean;
  /** Why it can run nothing at present, as it reported; undefined while it can. At most 1,000 characters. */
  readonly trouble?: string | undefined;
  /** The container images on its disk, by `imageKeyOf`; absent when they are the same as before. */
  readonly images?: readonly string[] | undefined;
}

export interface HeartbeatAnswer {
  /** Leases that this worker no longer holds. */
  readonly lost: readonly Lease[];
  readonly cancelled: readonly Lease[];
  /** The process does not hold its name: it never registered, or another process replaced it. */
  readonly isUnknown: boolean;
}

/** Processes the heartbeats of many workers with three statements. */
export async function takeHeartbeats(
  tx: Tx,
  beats: readonly Heartbeat[],
  now: Date,
  defaultLeaseMs: number,
): Promise<HeartbeatAnswer[]> {
  // A database crash may lose the last heartbeats; the next ones contain the same data.
  await commitWithoutWaiting(tx);
  await preferIndexes(tx);
  const [, known] = await together([
    // In the order of all code that ends leases: executions first, then workers. Another order would deadlock.
    lockLeases(
      tx,
      beats.flatMap(({ leases }) => leases),
    ),
    recordWorkersSeen(tx, beats, now),
  ]);
  const leases = beats.flatMap(({ worker, leases }) => {
    if (!known.has(worker.instanceId)) return [];
    const leaseMs = known.get(worker.instanceId)?.leaseMs ?? defaultLeaseMs;
    const until = new Date(now.getTime() + leaseMs);
    return leases.map((lease) => ({ lease, worker, until }));
  });
  const extended = new Map(
    (leases.length === 0 ? [] : await extendLeases(tx, leases)).map((lease) => [
      heldKey(lease, lease.instanceId),
      lease,
    ]),
  );
  const answers = beats.map(({ worker, leases }) => {
    const extendedOf = (lease: Lease) => extended.get(heldKey(lease, worker.instanceId));
    return {
      lost: leases.filter((lease) => extendedOf(lease) === undefined),
      cancelled: leases.filter((lease) => extendedOf(lease)?.cancelRequested === true),
      isUnknown: !known.has(worker.instanceId),
    };
  });
  // Of two heartbeats of a process in one round, the last one counts.
  const lostCounts = new Map(
    beats.map(({ worker }, index) => [worker.instanceId, answers[index]?.lost.length ?? 0]),
  );
  const changed = [...known.values()]
    .map(({ instanceId, endingCount: before }) => ({
      instanceId,
      before,
      endingCount: lostCounts.get(instanceId) ?? 0,
    }))
    .filter(({ before, endingCount }) => before !== endingCount);
  await noteEnding(tx, changed);
  return answers;
}

/** Returns a key with the process, because two processes may name one lease in a round, and only one holds it. */
function heldKey(lease: Lease, instanceId: string): string {
  return `${leaseKey(lease)} ${instanceId}`;
}
