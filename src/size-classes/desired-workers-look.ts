import { platformKey } from "#core/platform.ts";
import type { QueuedDemand, WorkerLoad } from "#execution/sizing/size-class-demand.store.ts";
import type { DeclaredClass } from "./declared-classes.store.ts";
import { desiredWorkers, type ScalingSettings, type ScalingSituation } from "./desired-workers.ts";
import {
  arrivalsPerSecond,
  mostWanted,
  newPoolMemory,
  noteSeen,
  noteWanted,
  type PoolMemory,
} from "./desired-workers-memory.ts";
import { isHeardOf, type ScalingPool, scalingPools } from "./desired-workers-pools.ts";
import { unforeseenMs } from "./offered-classes-view.ts";

/** The state of a class, and the number of workers that it should have. */
export interface ScaledClass {
  readonly platform: ScalingPool["platform"];
  readonly sizeClass: number;
  readonly declared: DeclaredClass | undefined;
  readonly desired: number;
  /** Workers that accept work, and workers that complete their leases. */
  readonly now: number;
  readonly draining: number;
  readonly slots: number;
  readonly busySlots: number;
  readonly queued: number;
  readonly reason: string;
  /** Names of workers that may be stopped, in this order; empty when none is superfluous. */
  readonly drain: readonly string[];
}

/** The facts at one time. */
export interface ScalingFacts {
  readonly at: number;
  readonly declared: readonly DeclaredClass[];
  readonly workers: readonly WorkerLoad[];
  readonly queued: readonly QueuedDemand[];
}

/** The state that is kept between two looks. */
interface ScalingMemory {
  readonly pools: ReadonlyMap<string, PoolMemory>;
  /** Since when workers, by name, have no lease. */
  readonly idleSince: ReadonlyMap<string, IdleSince>;
}

interface IdleSince {
  readonly at: number;
  /** Its number of finished executions at that time, because it may have executed something between two looks. */
  readonly finished: number;
}

export const emptyScalingMemory: ScalingMemory = { pools: new Map(), idleSince: new Map() };

/** Looks at all classes. Pure: the state for the next look is returned. */
export function lookAtClasses(
  facts: ScalingFacts,
  memory: ScalingMemory,
  settings: ScalingSettings,
): {
  readonly classes: readonly ScaledClass[];
  /** Waiting executions that no class could run. */
  readonly unserved: number;
  readonly memory: ScalingMemory;
} {
  const { at } = facts;
  const idleSince = idleTimes(facts, memory);
  const { pools, unserved } = scalingPools(facts.declared, facts.workers, facts.queued);
  const looked = pools.map((pool) => {
    const before = memory.pools.get(pool.key) ?? newPoolMemory(at);
    const seen = noteSeen(before, { at, seen: everSeen(pool), eachMs: foreseenEachMs(pool) });
    const situation = situationOf(pool, seen, at, settings);
    const { desired, wanted, reason } = desiredWorkers(situation, settings);
    const after = noteWanted(seen, { at, wanted, keepMs: settings.scaleDownMs });
    return { pool, after, scaled: scaledClass(pool, { desired, reason, idleSince }) };
  });
  return {
    classes: looked.map(({ scaled }) => scaled),
    unserved: count(unserved),
    memory: { pools: new Map(looked.map(({ pool, after }) => [pool.key, after])), idleSince },
  };
}

function situationOf(
  pool: ScalingPool,
  memory: PoolMemory,
  at: number,
  { scaleDownMs }: ScalingSettings,
): ScalingSituation {
  const { declared, waiting } = pool;
  const up = alive(pool);
  const eachMs = memory.eachMs ?? unforeseenMs;
  return {
    least: declared?.leastWorkers ?? 0,
    most: declared?.mostWorkers ?? undefined,
    slotsPerWorker: slotsPerWorker(pool),
    up: up.length,
    busyWorkers: up.filter(({ held }) => held > 0).length,
    held: sum(up, ({ held }) => held),
    remainingMs: sum(up, ({ remainingMs }) => remainingMs),
    waiting: waiting.map((each) => ({ ...each, eachMs: each.eachMs ?? eachMs })),
    arrivals: { perSecond: arrivalsPerSecond(memory), eachMs },
    wantedLately: mostWanted(memory),
    isWatched: at - memory.since >= scaleDownMs,
  };
}

function scaledClass(
  pool: ScalingPool,
  {
    desired,
    reason,
    idleSince,
  }: {
    readonly desired: number;
    readonly reason: string;
    readonly idleSince: ReadonlyMap<string, IdleSince>;
  },
): ScaledClass {
  const up = alive(pool);
  const idle = ({ name, registeredAt }: WorkerLoad) =>
    idleSince.get(name)?.at ?? registeredAt.getTime();
  const first = up.toSorted(
    (a, b) =>
      a.held - b.held ||
      idle(a) - idle(b) ||
      b.registeredAt.getTime() - a.registeredAt.getTime() ||
      (a.name < b.name ? -1 : 1),
  );
  return {
    platform: pool.platform,
    sizeClass: pool.sizeClass,
    declared: pool.declared,
    desired,
    now: up.length,
    draining: pool.workers.filter(({ condition }) => condition === "draining").length,
    slots: sum(up, ({ slots }) => slots),
    busySlots: sum(up, ({ slots, held }) => Math.min(slots, held)),
    queued: count(pool.waiting),
    reason,
    drain: first.slice(0, Math.max(0, up.length - desired)).map(({ name }) => name),
  };
}

function idleTimes({ at, workers }: ScalingFacts, memory: ScalingMemory): Map<string, IdleSince> {
  return new Map(
    workers
      .filter((worker) => isHeardOf(worker) && worker.held === 0)
      .map(({ name, finished, registeredAt }): [string, IdleSince] => {
        const before = memory.idleSince.get(name);
        if (before !== undefined && before.finished === finished) return [name, before];
        // A worker that never executed anything has been idle since its registration.
        return [name, { at: finished === 0 ? registeredAt.getTime() : at, finished }];
      }),
  );
}

function alive({ workers }: ScalingPool): WorkerLoad[] {
  return workers.filter(({ condition }) => condition === "alive");
}

/** Like the present workers; without any, as declared. */
function slotsPerWorker(pool: ScalingPool): number {
  const up = alive(pool);
  if (up.length === 0) return pool.declared?.slotsPerWorker ?? 1;
  return Math.max(1, Math.floor(sum(up, ({ slots }) => slots) / up.length));
}

function everSeen({ workers, waiting }: ScalingPool): number {
  return count(waiting) + sum(workers, ({ held, finished }) => held + finished);
}

function foreseenEachMs({ workers, waiting }: ScalingPool): number | undefined {
  const known = waiting.filter(({ eachMs }) => eachMs !== null);
  const number = count(known) + sum(workers, ({ foreseen }) => foreseen);
  if (number === 0) return undefined;
  const work = sum(known, ({ executions, eachMs }) => executions * (eachMs ?? 0));
  return (work + sum(workers, ({ foreseenMs }) => foreseenMs)) / number;
}

function count(waiting: readonly QueuedDemand[]): number {
  return sum(waiting, ({ executions }) => executions);
}

function sum<T>(all: readonly T[], of: (each: T) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}

/** Returns the platform of a class in one text, for display. */
export function platformText(platform: ScalingPool["platform"]): string {
  return (JSON.parse(platformKey(platform)) as [string, string][])
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
}
