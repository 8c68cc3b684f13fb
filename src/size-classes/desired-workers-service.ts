import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { preferIndexes } from "#execution/claiming/prefer-indexes.store.ts";
import { queuedDemand, workerLoads } from "#execution/sizing/size-class-demand.store.ts";
import { declaredClasses } from "./declared-classes.store.ts";
import type { ScalingSettings } from "./desired-workers.ts";
import {
  emptyScalingMemory,
  lookAtClasses,
  type ScaledClass,
  type ScalingFacts,
} from "./desired-workers-look.ts";
import { unforeseenMs } from "./offered-classes-view.ts";

/** The number of workers for each class, from one look. */
interface ScalingAnswer {
  readonly at: Date;
  readonly classes: readonly ScaledClass[];
  readonly unserved: number;
}

export interface DesiredWorkersService {
  /** Looks, unless another call did a moment ago. */
  look(): Promise<ScalingAnswer>;
  /** Called after a change of the declared classes: the next look reads everything again. */
  forget(): void;
}

/** Scrapers and autoscalers send a request every few seconds. */
const leastAgeMs = 1_000;
/** A look at a long queue takes long; looks use at most this share of all time. */
const mostOfTime = 1 / 50;

/**
 * Computes the number of workers when it is called.
 *
 * It has no timer: a look at the workers shows which no longer exist, so the figures are correct even after hours
 * without events. The state for releasing workers slowly is local to this server; after its start it releases no worker
 * until it has observed for some time.
 */
export function desiredWorkersService(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly settings: ScalingSettings;
}): DesiredWorkersService {
  const { db, clock, leaseMs, settings } = parts;
  let memory = emptyScalingMemory;
  let latest: Promise<ScalingAnswer> | undefined;
  let freshUntil = 0;
  // One after the other, because each uses the state of the one before.
  let looking: Promise<unknown> = Promise.resolve();

  const lookNow = async (): Promise<ScalingAnswer> => {
    const begun = performance.now();
    const now = clock.now();
    const looked = lookAtClasses(await scalingFacts(db, now, leaseMs), memory, settings);
    memory = looked.memory;
    const ended = performance.now();
    freshUntil = ended + Math.max(leastAgeMs, (ended - begun) / mostOfTime);
    return { at: now, classes: looked.classes, unserved: looked.unserved };
  };

  return {
    look() {
      if (latest !== undefined && performance.now() < freshUntil) return latest;
      freshUntil = Number.POSITIVE_INFINITY;
      const answer = looking.then(lookNow);
      latest = answer;
      looking = answer.catch(() => {
        if (latest === answer) latest = undefined;
      });
      return answer;
    },
    forget() {
      latest = undefined;
    },
  };
}

function scalingFacts(db: Db, now: Date, leaseMs: number): Promise<ScalingFacts> {
  return db.transaction(async (tx) => {
    await preferIndexes(tx);
    const declared = await declaredClasses(tx);
    const aliveSince = new Date(now.getTime() - leaseMs);
    const workers = await workerLoads(tx, now, aliveSince, unforeseenMs);
    return { at: now.getTime(), declared, workers, queued: await queuedDemand(tx, now) };
  });
}
