import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import type { Platform } from "#core/platform.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { preferIndexes } from "#execution/claiming/prefer-indexes.store.ts";
import { defaultTimes } from "#execution/queue-times.ts";
import { queuedWork, workersUp } from "#execution/sizing/size-class-offers.store.ts";
import { declaredClasses } from "./declared-classes.store.ts";
import { offeredClassesView, type SizeClassFacts } from "./offered-classes-view.ts";
import type { OfferedClass } from "./strategy.ts";

/** The existing size classes, as one server knows them. */
export interface OfferedClasses extends Service {
  /** The smallest class first; empty when nothing is known. From memory, slightly old. */
  for(requirements: Platform): readonly OfferedClass[];
  /** Returns the age of the data that `for` uses. */
  ageMs(): number;
  /** Reads now. Never throws; when reading fails, the earlier facts stay. */
  refresh(): Promise<void>;
  /** Reads if the facts are older than `freshMs`, or absent. For callers that may wait, after a quiet time. */
  freshen(): Promise<void>;
}

/** The maximum age of the facts of `for` while it is called, in ms. */
const defaultEveryMs = 2_000;
/** After this time without a call, nothing is read any more. In ms. */
const quietAfterMs = 10_000;
/** Reading takes at most this share of a connection's time, however long the queue is. */
const mostOfTime = 1 / 20;
/** The time from the request for a machine until its worker is ready: a typical value of clouds. In ms. */
export const defaultStartDelayMs = 60_000;

/**
 * Keeps the existing size classes in memory, because choosing one must not wait for the database.
 *
 * Each server has its own view, with a difference of up to two seconds. At worst, a choice by an old view causes some
 * waiting, because a class states a size, not a number of workers.
 */
export function offeredClasses(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A worker without contact for this time does not count. */
  readonly leaseMs?: number;
  readonly startDelayMs?: number;
  readonly everyMs?: number;
}): OfferedClasses {
  const { db, clock, logger } = parts;
  const leaseMs = parts.leaseMs ?? defaultTimes.leaseMs;
  const startDelayMs = parts.startDelayMs ?? defaultStartDelayMs;
  const everyMs = parts.everyMs ?? defaultEveryMs;

  let view: ReturnType<typeof offeredClassesView> = () => [];
  // The clock of this process, because the farm's clock may jump when it is corrected.
  let lookedAt = Number.NEGATIVE_INFINITY;
  let requestedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isFailing = false;
  let isStopped = false;

  const look = async () => {
    const begun = performance.now();
    try {
      view = offeredClassesView(await sizeClassFacts(db, clock.now(), leaseMs), startDelayMs);
      lookedAt = performance.now();
      isFailing = false;
    } catch (reason) {
      if (!isFailing && !isStopped) {
        logger.warn(
          { reason: messageOf(reason) },
          "cannot read the size classes; the last known ones are used",
        );
      }
      isFailing = true;
    } finally {
      looking = undefined;
    }
    const took = performance.now() - begun;
    if (isStopped || performance.now() - requestedAt > quietAfterMs) return;
    clearTimeout(timer);
    timer = setTimeout(() => void begin(), Math.max(everyMs, took / mostOfTime));
    timer.unref();
  };

  const begin = (): Promise<void> => {
    if (isStopped) return Promise.resolve();
    clearTimeout(timer);
    timer = undefined;
    looking ??= look();
    return looking;
  };

  const refresh = (): Promise<void> => {
    if (looking === undefined) return begin();
    // The read in progress may have started before the change that the caller knows.
    next ??= looking.then(() => {
      next = undefined;
      return begin();
    });
    return next;
  };

  return {
    for(requirements) {
      requestedAt = performance.now();
      if (timer === undefined && looking === undefined) void begin();
      return view(requirements);
    },
    ageMs: () => Math.max(0, performance.now() - lookedAt),
    refresh,
    freshen: () =>
      performance.now() - lookedAt > 2 * everyMs && !isFailing ? begin() : Promise.resolve(),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await (next ?? looking);
    },
  };
}

async function sizeClassFacts(db: Db, now: Date, leaseMs: number): Promise<SizeClassFacts> {
  return db.transaction(async (tx) => {
    await preferIndexes(tx);
    const declared = await declaredClasses(tx);
    const up = await workersUp(tx, now, new Date(now.getTime() - leaseMs));
    return { declared, up, queued: await queuedWork(tx) };
  });
}
