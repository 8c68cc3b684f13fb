import type { OutputTrees } from "#actions/output-trees.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { Evictable, NamespacedBlob } from "#cas/evictable.ts";
import type { Namespace } from "#cas/namespaces/namespace.ts";
import type { Digest } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import { evictYoung } from "./evict-young.ts";
import { type Claims, farmHolds } from "./farm-claims.ts";
import { Holds } from "./held-blobs.ts";
import { forgetNamesOf } from "./named-blobs.ts";
import { StoreCensus, type StoreCounts } from "./store-census.ts";
import { storeGoal } from "./store-goal.ts";
import { goes, leastIdleOf, Worth, youngMs } from "./worth-of-blobs.ts";

const removedAtOnce = 8;

/** A blob's use is recorded once a minute, or by another clock: the use of its result may be newer by this much. */
const notedLateMs = 2 * 60_000;

export interface EvictionServices {
  readonly db: Tx;
  /** The store from which held blobs are read. Reading must not count as a use. */
  readonly blobsOf: (project: string) => BlobStore;
  readonly treesOf: (project: string) => OutputTrees;
  readonly stored: Evictable;
  /**
   * The blobs that the indexes of the newest commits of protected branches name, and the blobs of the indexes
   * themselves.
   */
  readonly pinned: Claims;
}

/** The result of one round of eviction. */
export interface EvictionRound {
  readonly blobs: number;
  readonly bytes: number;
  readonly removedBlobs: number;
  readonly removedBytes: number;
  /** Deleted results and cache entries that named removed blobs. */
  readonly forgottenNames: number;
  /** The bytes of blobs that were used within the last hours. */
  readonly youngBytes: number;
  /** The size of older blobs that unfinished work needs. */
  readonly heldBytes: number;
  /** The bytes above the limit that could not be removed. */
  readonly overBytes: number;
  /** What the store has at the end of the round. */
  readonly counts: StoreCounts;
}

/**
 * Brings the store under its limit: finds the blobs of least value, deletes the entries that name them, and removes the
 * blobs.
 *
 * The store is listed several times and never kept in memory: the first pass sums the bytes by value, and the last one
 * counts what is left. Without a limit, and with free space on the disk, the store is only counted.
 *
 * @param shortBytes how much the disk lacks until it has its reserve free
 */
export async function evict(
  services: EvictionServices,
  limitBytes: number | undefined,
  now: Date,
  signal: AbortSignal,
  shortBytes = 0,
): Promise<EvictionRound> {
  const { stored } = services;
  const turn = takingTurns();
  const idleMs = (usedAt: Date) => now.getTime() - usedAt.getTime();
  await stored.putBack();

  const measure = async (holds: Holds) => {
    const worth = new Worth();
    const census = new StoreCensus(now);
    for await (const blob of stored.list()) {
      await turn();
      signal.throwIfAborted();
      const hold = holds.of(blob.namespace, blob.digest);
      worth.add(blob.digest.sizeBytes, idleMs(blob.lastUsedAt), hold);
      census.add(blob, hold);
    }
    return { worth, census };
  };
  const nothing = {
    removedBlobs: 0,
    removedBytes: 0,
    forgottenNames: 0,
    heldBytes: 0,
    overBytes: 0,
  };

  const first = await measure(new Holds());
  const { blobs, bytes, youngBytes } = first.worth;
  const goal = storeGoal(bytes, limitBytes, shortBytes);
  if (goal === undefined) {
    return { ...nothing, blobs, bytes, youngBytes, counts: first.census.counts() };
  }

  const holds = await farmHolds(services, now, signal);
  const { worth } = await measure(holds);
  const cut = worth.cut(worth.bytes - goal.evictToBytes);
  const isToGo = (namespace: Namespace, digest: Digest, lastUsedAt: Date) =>
    goes(cut, digest, idleMs(lastUsedAt), holds.of(namespace, digest));

  const leastIdle = leastIdleOf(cut);
  let forgottenNames = 0;
  let removedBlobs = 0;
  let removedBytes = 0;
  if (Number.isFinite(leastIdle)) {
    forgottenNames = await forgetNamesOf(
      services,
      new Date(now.getTime() - leastIdle + notedLateMs),
      async (namespace, digest) => {
        const found = await stored.look(namespace, digest);
        return found === undefined || isToGo(namespace, digest, found.lastUsedAt);
      },
      signal,
    );
    const unusedSince = new Date(now.getTime() - youngMs);
    const remove = async (some: readonly NamespacedBlob[]) => {
      await mapAtMost(removedAtOnce, some, async ({ namespace, digest }) => {
        if (!(await stored.removeUnused(namespace, digest, unusedSince))) return;
        removedBlobs++;
        removedBytes += digest.sizeBytes;
      });
    };
    let some: NamespacedBlob[] = [];
    for await (const blob of stored.list()) {
      await turn();
      signal.throwIfAborted();
      if (isToGo(blob.namespace, blob.digest, blob.lastUsedAt)) some.push(blob);
      if (some.length < 256) continue;
      await remove(some);
      some = [];
    }
    await remove(some);
  }
  const excessBytes = worth.bytes - removedBytes - goal.ceilingBytes;
  if (excessBytes > 0) {
    const young = await evictYoung(services, holds, excessBytes, now, signal);
    forgottenNames += young.names;
    removedBlobs += young.blobs;
    removedBytes += young.bytes;
  }
  const left = worth.bytes - removedBytes;
  const { census } = await measure(holds);
  const mostBytes = Math.min(limitBytes ?? Number.POSITIVE_INFINITY, goal.ceilingBytes);
  return {
    blobs: worth.blobs - removedBlobs,
    bytes: left,
    removedBlobs,
    removedBytes,
    forgottenNames,
    youngBytes: worth.youngBytes,
    heldBytes: worth.firmBytes,
    overBytes: Math.max(0, left - mostBytes),
    counts: census.counts(),
  };
}
