import { type Platform, platformKey } from "#core/platform.ts";
import { isServedBy } from "#execution/claiming/is-served-by.ts";
import type { QueuedWork, WorkersUp } from "#execution/sizing/size-class-offers.store.ts";
import type { DeclaredClass } from "./declared-classes.store.ts";
import { declarationOf, mayBeStarted } from "./declared-classes.ts";
import type { OfferedClass } from "./strategy.ts";

/** The facts about a farm's size classes at one moment. */
export interface SizeClassFacts {
  readonly up: readonly WorkersUp[];
  readonly declared: readonly DeclaredClass[];
  readonly queued: readonly QueuedWork[];
}

/**
 * The assumed duration of an execution without an estimate: if no similar action has run, the duration of a
 * compilation.
 */
export const unforeseenMs = 10_000;

/** The smallest possible class: all classes count. */
const anySize = 1;

interface Queue {
  readonly kind: QueuedWork;
  readonly workMs: number;
}

/**
 * Returns the classes for a set of requirements, from the facts of one moment. The smallest first.
 *
 * Called often before the next update; results are cached.
 */
export function offeredClassesView(
  facts: SizeClassFacts,
  startDelayMs: number,
): (requirements: Platform) => readonly OfferedClass[] {
  const workers = facts.up.map((up, index) => ({
    ...up,
    index,
    declaration: declarationOf(up, facts.declared),
  }));
  const startable = facts.declared.filter(mayBeStarted);
  const queues: Queue[] = facts.queued.map((kind) => ({ kind, workMs: workOf(kind) }));
  const found = new Map<string, readonly OfferedClass[]>();

  return (requirements) => {
    const key = platformKey(requirements);
    const known = found.get(key);
    if (known !== undefined) return known;
    const offered = find(requirements);
    // A client that sends many different requirements must not fill the memory.
    if (found.size >= mostRemembered) found.clear();
    found.set(key, offered);
    return offered;
  };

  function find(requirements: Platform): OfferedClass[] {
    // Limited from above, too: requirements may contain a largest class.
    const able = (offer: { readonly platform: Platform; readonly sizeClass: number }) =>
      isServedBy({ requirements, sizeClass: anySize }, offer);
    const up = workers.filter(able);
    const toStart = startable.filter(able);
    const pricedPerCpu = up
      .flatMap(({ declaration }) => declaration ?? [])
      .concat(toStart)
      .flatMap(({ sizeClass, cpus, price }) =>
        // A class with price 0 gives no information about the price of others.
        price === null || price === 0 ? [] : [{ sizeClass, perCpu: price / (cpus ?? sizeClass) }],
      );
    const sizeClasses = new Set([...up, ...toStart].map(({ sizeClass }) => sizeClass));

    return [...sizeClasses]
      .toSorted((a, b) => a - b)
      .map((sizeClass) => {
        const own = up.filter((each) => each.sizeClass === sizeClass);
        const declared = toStart.filter((each) => each.sizeClass === sizeClass);
        const statedCpus = [...own.flatMap(({ declaration }) => declaration ?? []), ...declared];
        // Running workers show the resources of an action; a declaration is used when there are none, or when it states
        // the CPUs.
        const cpus =
          least(own.map((each) => each.cpus ?? each.declaration?.cpus)) ??
          least(declared.map((each) => each.cpus)) ??
          sizeClass;
        const memoryBytes =
          least(own.map((each) => each.memoryBytes ?? each.declaration?.memoryBytes)) ??
          (own.length === 0 ? least(declared.map((each) => each.memoryBytes)) : undefined) ??
          Number.POSITIVE_INFINITY;
        return {
          sizeClass,
          cpus,
          memoryBytes,
          price:
            least(statedCpus.map(({ price }) => price)) ??
            priceLike(pricedPerCpu, sizeClass, cpus) ??
            sizeClass,
          waitMs: waitFor(sizeClass, up, declared),
        };
      });
  }

  /**
   * Returns the expected wait: 0 when a slot of that class or a larger one is free; otherwise all of these slots share
   * the running and waiting executions.
   */
  function waitFor(
    sizeClass: number,
    up: readonly (WorkersUp & { readonly index: number })[],
    declared: readonly DeclaredClass[],
  ): number {
    const hasOwn = up.some((each) => each.sizeClass === sizeClass);
    const offers = up.filter((each) => each.sizeClass >= sizeClass);
    const rivals = queues.filter(
      ({ kind }) =>
        kind.sizeClass >= sizeClass &&
        (offers.some((offer) => isServedBy(kind, offer)) ||
          declared.some((each) => isServedBy(kind, each))),
    );
    const waiting = sum(rivals.map(({ kind }) => kind.executions));
    const queuedMs = sum(rivals.map(({ workMs }) => workMs));
    if (!hasOwn) {
      // An autoscaler starts one worker for each waiting execution, if it may.
      const most = sum(declared.map((each) => (each.mostWorkers ?? waiting) * each.slotsPerWorker));
      return Math.round(startDelayMs + queuedMs / Math.max(1, Math.min(most, waiting)));
    }
    const slots = sum(offers.map((offer) => offer.slots));
    const busy = sum(offers.map((offer) => offer.busySlots));
    if (slots - busy > waiting) return 0;
    return Math.round((sum(offers.map((offer) => offer.remainingMs)) + queuedMs) / slots);
  }
}

const mostRemembered = 1_000;

function workOf({ executions, foreseen, foreseenMs }: QueuedWork): number {
  const each = foreseen === 0 ? unforeseenMs : foreseenMs / foreseen;
  return foreseenMs + (executions - foreseen) * each;
}

/** Returns a price from the CPU price of the nearest declared class. */
function priceLike(
  priced: readonly { readonly sizeClass: number; readonly perCpu: number }[],
  sizeClass: number,
  cpus: number,
): number | undefined {
  const far = (each: { readonly sizeClass: number }) => Math.abs(each.sizeClass - sizeClass);
  const nearest = priced.toSorted((a, b) => far(a) - far(b))[0];
  return nearest && nearest.perCpu * cpus;
}

function least(values: readonly (number | null | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
