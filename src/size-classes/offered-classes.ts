import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import type { Platform } from "#core/platform.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { preferIndexes } from "#execution/claiming/prefer-indexes.store.ts";
import { usualTimes } from "#execution/queue-times.ts";
import { queuedWork, workersUp } from "#execution/sizing/size-class-offers.store.ts";
import { declaredClasses } from "./declared-classes.store.ts";
import { offeredClassesView, type SizeClassFacts } from "./offered-classes-view.ts";
import type { OfferedClass } from "./strategy.ts";

/** The size classes that exist, as one server knows them. */
export interface OfferedClasses extends Service {
  /** The least class first; nothing when nothing is known. From memory, a moment old. */
  for(requirements: Platform): readonly OfferedClass[];
  /** How long ago was looked at what `for` answers. */
  ageMs(): number;
  /** Reads now. Never throws; when it cannot read, the earlier facts stay. */
  refresh(): Promise<void>;
  /** Reads if the facts are older than `freshMs`, or absent. For callers that may wait, after a quiet time. */
  freshen(): Promise<void>;
}

/** How old the facts of `for` may be while it is called, in ms. */
const usualEveryMs = 2_000;
/** After this time without a call, nothing is read any more. In ms. */
const quietAfterMs = 10_000;
/** Looking takes this part of a connection's time at most, however long the queue. */
const mostOfTime = 1 / 20;
/** From the request for a machine until its worker is ready: what clouds need today. In ms. */
export const usualStartDelayMs = 60_000;

/**
 * Keeps in memory which size classes there are, since choosing one must not wait for the database.
 *
 * Servers each have their own view, up to two seconds apart. A choice that goes by an old one costs some
 * waiting at worst: classes are promises of size, not of workers.
 */
export function offeredClasses(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Who was not heard of for so long is no worker. */
  readonly leaseMs?: number;
  readonly startDelayMs?: number;
  readonly everyMs?: number;
}): OfferedClasses {
  const { db, clock, logger } = parts;
  const leaseMs = parts.leaseMs ?? usualTimes.leaseMs;
  const startDelayMs = parts.startDelayMs ?? usualStartDelayMs;
  const everyMs = parts.everyMs ?? usualEveryMs;

  let view: ReturnType<typeof offeredClassesView> = () => [];
  // By the clock of this process: the farm's clock may jump when it is corrected.
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
          "cannot see which size classes there are; those known last go on to count",
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
    // The running read may have happened before the change that the caller knows of.
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
