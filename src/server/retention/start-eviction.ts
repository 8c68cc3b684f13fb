import type { Logger } from "pino";
import { z } from "zod";
import { StoreStanding } from "#api/store.ts";
import { type DiskSize, diskSizeOf } from "#cas/disk/disk-usage.ts";
import type { Clock } from "#core/clock.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { Service } from "#core/service.ts";
import { type EvictionRound, type EvictionServices, evict } from "./evict.ts";
import { StoreCounts } from "./store-census.ts";
import { diskShortBytes } from "./store-goal.ts";
import { type RoundPlace, startStoreRounds } from "./store-rounds.ts";
import { isTimeToLook } from "./time-to-look.ts";

const usuallyEveryMs = 60_000;

/** The state of the store. */
const Noted = StoreStanding.omit({ limitBytes: true, scrubbed: true }).extend({
  diskFreeBytes: z.number().nonnegative(),
  /** Null in files of earlier versions. */
  counts: StoreCounts.nullable().default(null),
});
type Noted = z.infer<typeof Noted>;

const unknown: Noted = {
  counted: null,
  evicted: null,
  evictedInAll: { blobs: 0, bytes: 0, names: 0 },
  diskFreeBytes: 0,
  counts: null,
};

interface Eviction extends Service {
  standing(): Promise<Omit<StoreStanding, "scrubbed">>;
  /** Returns what the store had when it was last counted; null until the first count. */
  counts(): Promise<StoreCounts | null>;
}

/** Periodically evicts blobs until the store is under its limit; without a limit, only counts the blobs. */
export function startEviction(
  services: EvictionServices & {
    /** Where the servers of the store agree who evicts. */
    readonly place: RoundPlace;
    /** A directory on the disk whose free space limits the store. */
    readonly directory: string;
    readonly limitBytes: number | undefined;
    readonly everyMs?: number;
    /** Returns the size of that disk. */
    readonly diskOf?: (directory: string) => Promise<DiskSize>;
    readonly clock: Clock;
    readonly logger: Logger;
  },
): Eviction {
  const { place, directory, limitBytes, everyMs = usuallyEveryMs, clock, logger } = services;
  const { diskOf = diskSizeOf } = services;
  const notes = place.notes("eviction", Noted, unknown);

  async function look(signal: AbortSignal): Promise<void> {
    const before = await notes.read();
    const { counted, diskFreeBytes } = before;
    const now = clock.now();
    const last = counted && {
      atMs: Date.parse(counted.at),
      bytes: counted.bytes,
      diskFreeBytes,
    };
    const disk = await diskOf(directory);
    const short = diskShortBytes(disk.bytes, disk.freeBytes);
    if (!isTimeToLook(last ?? undefined, limitBytes, disk.freeBytes, now.getTime(), short > 0))
      return;
    const round = await evict(services, limitBytes, now, signal, short);
    await notes.write(after(before, round, now, (await diskOf(directory)).freeBytes));
    tell(round);
  }

  function tell({ overBytes, heldBytes, youngBytes, ...round }: EvictionRound): void {
    const { blobs, bytes, removedBlobs, removedBytes, forgottenNames } = round;
    const removed = { blobs, bytes, removedBlobs, removedBytes, forgottenNames };
    if (removedBlobs > 0)
      logger.info(removed, "the store was full; the least valuable blobs were removed");
    if (overBytes === 0) return;
    const sizes = { young: memorySizeText(youngBytes), held: memorySizeText(heldBytes) };
    logger.warn(
      { over: memorySizeText(overBytes), ...sizes },
      "the store is above its limit, or its disk fills up. Blobs that were requested in the last minutes, that results and " +
        "entries used within 3 hours name, or that running work needs, are never removed. Give the store more space",
    );
  }

  const rounds = startStoreRounds({
    place,
    name: "eviction",
    everyMs,
    round: look,
    failure: "the store could not be examined; the next round tries again",
    logger,
  });

  return {
    async standing() {
      const { diskFreeBytes: _, counts: __, ...rest } = await notes.read();
      return { limitBytes: limitBytes ?? null, ...rest };
    },
    counts: async () => (await notes.read()).counts,
    stop: () => rounds.stop(),
  };
}

function after(before: Noted, round: EvictionRound, now: Date, diskFreeBytes: number): Noted {
  const at = now.toISOString();
  const { blobs, bytes, youngBytes, heldBytes, overBytes, counts } = round;
  const gone = {
    blobs: round.removedBlobs,
    bytes: round.removedBytes,
    names: round.forgottenNames,
  };
  const sum = before.evictedInAll;
  return {
    counted: { at, blobs, bytes, youngBytes, heldBytes, overBytes },
    evicted: gone.blobs > 0 ? { at, ...gone } : before.evicted,
    evictedInAll: {
      blobs: sum.blobs + gone.blobs,
      bytes: sum.bytes + gone.bytes,
      names: sum.names + gone.names,
    },
    diskFreeBytes,
    counts,
  };
}
