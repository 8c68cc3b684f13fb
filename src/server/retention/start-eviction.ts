import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { z } from "zod";
import { StoreStanding } from "#api/store.ts";
import { type DiskSize, diskSizeOf, freeBytesIn } from "#cas/disk/disk-usage.ts";
import type { Clock } from "#core/clock.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { Service } from "#core/service.ts";
import { type EvictionRound, type EvictionServices, evict } from "./evict.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { diskShortBytes } from "./store-goal.ts";
import { isTimeToLook } from "./time-to-look.ts";

const usuallyEveryMs = 60_000;

/** The state of the store, in a file next to it: shared by all its servers, and still there after a restart. */
const Noted = StoreStanding.omit({ limitBytes: true, scrubbed: true }).extend({
  diskFreeBytes: z.number().nonnegative(),
});
type Noted = z.infer<typeof Noted>;

const unknown: Noted = {
  counted: null,
  evicted: null,
  evictedInAll: { blobs: 0, bytes: 0, names: 0 },
  diskFreeBytes: 0,
};

interface Eviction extends Service {
  standing(): Promise<Omit<StoreStanding, "scrubbed">>;
}

/** Periodically evicts blobs until the store is under its limit; without a limit, only counts the blobs. */
export function startEviction(
  services: EvictionServices & {
    readonly directory: string;
    readonly limitBytes: number | undefined;
    readonly everyMs?: number;
    /** Returns the size of the store's disk; for tests that have no disk of their own. */
    readonly diskOf?: (directory: string) => Promise<DiskSize>;
    readonly clock: Clock;
    readonly logger: Logger;
  },
): Eviction {
  const { directory, limitBytes, everyMs = usuallyEveryMs, clock, logger } = services;
  const { diskOf = diskSizeOf } = services;
  const notes = join(directory, "eviction.json");
  const ending = new AbortController();
  let working: Promise<void> | undefined;

  async function noted(): Promise<Noted> {
    const text = await readFile(notes, "utf8").catch(() => "null");
    return Noted.catch(unknown).parse(parsedOr(text));
  }

  async function note(next: Noted): Promise<void> {
    const aside = `${notes}.${randomUUID()}`;
    await writeFile(aside, JSON.stringify(next));
    await rename(aside, notes);
  }

  async function look(): Promise<void> {
    const before = await noted();
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
    const round = await evict(services, limitBytes, now, ending.signal, short);
    await note(after(before, round, now, await freeBytesIn(directory)));
    tell(round);
  }

  function tell({ overBytes, heldBytes, youngBytes, ...round }: EvictionRound): void {
    if (round.removedBlobs > 0) logger.info(round, "the store was full; what was worth least went");
    if (overBytes === 0) return;
    const sizes = { young: memorySizeText(youngBytes), held: memorySizeText(heldBytes) };
    logger.warn(
      { over: memorySizeText(overBytes), ...sizes },
      "the store is above its limit, or its disk fills up: what was asked for in the last minutes, what results and entries " +
        "name that were used within 3 hours, and what work under way needs, never goes. Give it more room",
    );
  }

  const timer = setInterval(() => {
    working ??= oneAtATime(join(directory, "eviction.lock"), look)
      .then(() => {})
      .catch((reason: unknown) => {
        if (!ending.signal.aborted) {
          logger.warn(
            { err: reason },
            "the store could not be looked through; it comes round again",
          );
        }
      })
      .finally(() => {
        working = undefined;
      });
  }, everyMs);
  timer.unref();

  return {
    async standing() {
      const { diskFreeBytes: _, ...rest } = await noted();
      return { limitBytes: limitBytes ?? null, ...rest };
    },
    async stop() {
      clearInterval(timer);
      ending.abort();
      await working;
    },
  };
}

function after(before: Noted, round: EvictionRound, now: Date, diskFreeBytes: number): Noted {
  const at = now.toISOString();
  const { blobs, bytes, youngBytes, heldBytes, overBytes } = round;
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
  };
}

/** A truncated file counts as absent. */
function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
