import type { SizeClassNow, SizeClassPlatform, SizeClassSaved } from "#api/size-class.ts";
import { Platform } from "#core/platform.ts";
import type { WorkerOffer } from "#execution/claiming/worker-offers.store.ts";
import type { QueuedWork } from "#execution/sizing/size-class-offers.store.ts";
import type { ClassUsageRow, Price, SavedOn } from "#execution/sizing/size-class-usage.store.ts";
import { offeredClassesView, type SizeClassFacts } from "../offered-classes-view.ts";
import type { OfferedClass } from "../strategy.ts";
import { type PlatformGroup, type PlatformGroups, platformGroups } from "./platform-groups.ts";

/** The present size classes of a farm. */
export interface ClassesNow extends SizeClassFacts {
  readonly offers: readonly WorkerOffer[];
}

export interface ClassTable {
  readonly groups: PlatformGroups;
  offered(group: PlatformGroup): readonly OfferedClass[];
  priceOn(group: PlatformGroup, sizeClass: number): number;
  groupOf(ran: Pick<ClassUsageRow, "requirements" | "workerPlatform">): PlatformGroup;
}

/** Returns the classes, their size and their price, without their executions. */
export function classTable(now: ClassesNow, startDelayMs: number): ClassTable {
  const view = offeredClassesView(now, startDelayMs);
  const groups = platformGroups(
    now.offers.map(({ platform }) => platform),
    now.declared.map(({ platform }) => platform),
  );
  const offered = (group: PlatformGroup) => view(group.platform);
  return {
    groups,
    offered,
    priceOn: (group, sizeClass) =>
      offered(group).find((each) => each.sizeClass === sizeClass)?.price ?? sizeClass,
    groupOf: ({ requirements, workerPlatform }) =>
      workerPlatform === ""
        ? groups.ofRequirements(Platform.parse(JSON.parse(requirements)))
        : groups.ofWorker(Platform.parse(JSON.parse(workerPlatform))),
  };
}

/** Returns a price for each class on which an execution ran or could have run. */
export function pricesOf(table: ClassTable, ran: readonly ClassUsageRow[]): Price[] {
  const kinds = new Map(
    ran.map(({ requirements, workerPlatform }) => [
      JSON.stringify([requirements, workerPlatform]),
      { requirements, workerPlatform },
    ]),
  );
  const seen = new Set(ran.map(({ sizeClass }) => sizeClass));
  return [...kinds.values()].flatMap((kind) => {
    const group = table.groupOf(kind);
    const classes = new Set([...seen, ...table.offered(group).map((each) => each.sizeClass)]);
    return [...classes].map((sizeClass) => ({
      ...kind,
      sizeClass,
      price: table.priceOn(group, sizeClass),
    }));
  });
}

const nothingSaved: SizeClassSaved = { amount: 0, executions: 0, unknown: 0 };

export function sumOfSaved(some: readonly SizeClassSaved[]): SizeClassSaved {
  return some.reduce(
    (sum, each) => ({
      amount: sum.amount + each.amount,
      executions: sum.executions + each.executions,
      unknown: sum.unknown + each.unknown,
    }),
    nothingSaved,
  );
}

/** Returns all platforms with their classes, the smallest first. */
export function platformsForPage(
  now: ClassesNow,
  table: ClassTable,
  ran: readonly ClassUsageRow[],
  saved: readonly SavedOn[],
): SizeClassPlatform[] {
  const ranIn = ran.map((each) => ({ ...each, group: table.groupOf(each) }));
  const savedIn = saved.map((each) => ({ ...each, group: table.groupOf(each) }));
  const queuedIn = now.queued.map((each) => ({
    ...each,
    group: table.groups.ofRequirements(each.requirements),
  }));
  // Executions of a platform without workers form one, too.
  const all = new Map(
    [...table.groups.all, ...[...ranIn, ...queuedIn].map(({ group }) => group)].map((group) => [
      group.name,
      group,
    ]),
  );
  return [...all.values()].map((group) => {
    const isHere = (each: { readonly group: PlatformGroup }) => each.group.name === group.name;
    const parts = {
      group,
      now,
      table,
      ran: ranIn.filter(isHere),
      saved: savedIn.filter(isHere),
      queued: queuedIn.filter(isHere),
    };
    const executions = sum(parts.ran.map((each) => each.executions));
    const classes = [...classesOf(parts)]
      .toSorted((a, b) => a - b)
      .map((sizeClass) => classNow(sizeClass, executions, parts));
    return {
      name: group.name,
      platform: group.platform,
      classes,
      saved: sumOfSaved(classes.map((each) => each.saved)),
    };
  });
}

interface Parts {
  readonly group: PlatformGroup;
  readonly now: ClassesNow;
  readonly table: ClassTable;
  readonly ran: readonly ClassUsageRow[];
  readonly saved: readonly SavedOn[];
  readonly queued: readonly QueuedWork[];
}

function classesOf({ group, now, table, ran, queued }: Parts): Set<number> {
  return new Set([
    ...table.offered(group).map(({ sizeClass }) => sizeClass),
    ...offersOf(group, now, table).map(({ sizeClass }) => sizeClass),
    ...now.declared
      .filter(({ platform }) => table.groups.ofWorker(platform).name === group.name)
      .map(({ sizeClass }) => sizeClass),
    ...[...ran, ...queued].map(({ sizeClass }) => sizeClass),
  ]);
}

function offersOf(group: PlatformGroup, now: ClassesNow, { groups }: ClassTable): WorkerOffer[] {
  return now.offers.filter(({ platform }) => groups.ofWorker(platform).name === group.name);
}

function classNow(sizeClass: number, executionsInAll: number, parts: Parts): SizeClassNow {
  const { group, now, table } = parts;
  const is = (each: { readonly sizeClass: number }) => each.sizeClass === sizeClass;
  const isHere = (each: { readonly platform: Platform; readonly sizeClass: number }) =>
    is(each) && table.groups.ofWorker(each.platform).name === group.name;
  const offers = now.offers.filter(isHere);
  const up = now.up.filter(isHere);
  const ran = parts.ran.filter(is);
  const offered = table.offered(group).find(is);
  const executions = sum(ran.map((each) => each.executions));
  const ms = sum(ran.map((each) => each.ms));
  const price = table.priceOn(group, sizeClass);
  const workersThat = (condition: WorkerOffer["condition"]) =>
    sum(offers.filter((each) => each.condition === condition).map(({ workers }) => workers));
  return {
    sizeClass,
    isDeclared: now.declared.some(isHere),
    workers: workersThat("alive"),
    draining: workersThat("draining"),
    silent: workersThat("silent"),
    slots: sum(up.map(({ slots }) => slots)),
    busy: sum(up.map(({ busySlots }) => busySlots)),
    queued: sum(parts.queued.filter(is).map((kind) => kind.executions)),
    expectedWaitMs: offered?.waitMs ?? null,
    cpus: offered?.cpus ?? null,
    memoryBytes:
      offered === undefined || offered.memoryBytes === Infinity ? null : offered.memoryBytes,
    price,
    runs: sum(ran.map((each) => each.runs)),
    executions,
    share: executionsInAll === 0 ? null : executions / executionsInAll,
    busySeconds: ms / 1_000,
    cost: (ms / 1_000) * price,
    saved: sumOfSaved(parts.saved.filter(is)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
