import { type Platform, platformKey } from "#core/platform.ts";
import { isServedBy } from "#execution/claiming/is-served-by.ts";
import type { QueuedDemand, WorkerLoad } from "#execution/sizing/size-class-demand.store.ts";
import type { DeclaredClass } from "./declared-classes.store.ts";
import { declarationOf, mayBeStarted } from "./declared-classes.ts";

/** A size class of a platform, its workers, and its waiting executions. */
export interface ScalingPool {
  readonly key: string;
  readonly platform: Platform;
  readonly sizeClass: number;
  /** Undefined for a class that exists only through its workers. */
  readonly declared: DeclaredClass | undefined;
  readonly workers: readonly WorkerLoad[];
  readonly waiting: readonly QueuedDemand[];
}

/** The classes of a farm, and the waiting executions that no class could run. */
interface ScalingPools {
  readonly pools: readonly ScalingPool[];
  readonly unserved: readonly QueuedDemand[];
}

/** Assigns each worker to one class, and each waiting execution to the smallest class that could run it. */
export function scalingPools(
  declared: readonly DeclaredClass[],
  workers: readonly WorkerLoad[],
  queued: readonly QueuedDemand[],
): ScalingPools {
  const pools = new Map<string, ScalingPool & { workers: WorkerLoad[]; waiting: QueuedDemand[] }>();
  const poolOf = (platform: Platform, sizeClass: number, as: DeclaredClass | undefined) => {
    const key = `${sizeClass} ${platformKey(platform)}`;
    const pool = pools.get(key) ?? {
      key,
      platform,
      sizeClass,
      declared: as,
      workers: [],
      waiting: [],
    };
    pools.set(key, pool);
    return pool;
  };
  for (const each of declared) poolOf(each.platform, each.sizeClass, each);
  for (const worker of workers) {
    const as = declarationOf(worker, declared);
    poolOf(as?.platform ?? worker.platform, worker.sizeClass, as).workers.push(worker);
  }
  // Workers that no longer exist create no class.
  const live = [...pools.values()]
    .filter((pool) => pool.declared !== undefined || pool.workers.some(isHeardOf))
    .toSorted(
      (a, b) =>
        a.sizeClass - b.sizeClass || (platformKey(a.platform) < platformKey(b.platform) ? -1 : 1),
    );

  const unserved: QueuedDemand[] = [];
  // There are few kinds, each with several lengths: the class of a kind is determined once.
  const forKind = new Map<string, (typeof live)[number] | undefined>();
  for (const demand of queued) {
    const kind = `${demand.sizeClass} ${platformKey(demand.requirements)}`;
    if (!forKind.has(kind)) forKind.set(kind, chosenFor(demand, live));
    const pool = forKind.get(kind);
    (pool?.waiting ?? unserved).push(demand);
  }
  return { pools: live, unserved };
}

/**
 * Returns the smallest class that could run it. Among equal ones, the one with the fewest properties, which fits most
 * executions.
 */
function chosenFor<Pool extends ScalingPool>(
  kind: QueuedDemand,
  pools: readonly Pool[],
): Pool | undefined {
  return pools
    .filter((pool) => couldRun(pool, kind))
    .toSorted(
      (a, b) =>
        a.sizeClass - b.sizeClass ||
        Number(b.declared !== undefined) - Number(a.declared !== undefined) ||
        Object.keys(a.platform).length - Object.keys(b.platform).length,
    )[0];
}

function couldRun({ platform, sizeClass, declared, workers }: ScalingPool, kind: QueuedDemand) {
  const isAble = (offered: Platform) => isServedBy(kind, { platform: offered, sizeClass });
  // A worker with more properties than declared shows that other workers of its class have them, too.
  return (
    (declared !== undefined && mayBeStarted(declared) && isAble(platform)) ||
    workers.some((worker) => worker.condition === "alive" && isAble(worker.platform))
  );
}

export function isHeardOf({ condition }: Pick<WorkerLoad, "condition">): boolean {
  return condition !== "silent";
}
