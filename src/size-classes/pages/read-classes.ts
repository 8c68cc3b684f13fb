import type { SizeClasses, SizeClassWindow } from "#api/size-class.ts";
import type { Db } from "#db/db.ts";
import { preferIndexes } from "#execution/claiming/prefer-indexes.store.ts";
import { workerOffers } from "#execution/claiming/worker-offers.store.ts";
import { queuedWork, workersUp } from "#execution/sizing/size-class-offers.store.ts";
import {
  type ClassUsageRow,
  costOfKeys,
  endedLately,
  type KeyCost,
  type Price,
  type RecentExecutions,
  ranOn,
  type SavedOn,
  savedOn,
} from "#execution/sizing/size-class-usage.store.ts";
import { declaredClasses } from "../declared-classes.store.ts";
import { defaultStartDelayMs } from "../offered-classes.ts";
import {
  type ClassesNow,
  type ClassTable,
  classTable,
  platformsForPage,
  pricesOf,
  sumOfSaved,
} from "./size-class-table.ts";

const dayMs = 24 * 3_600_000;
/** Reading this many takes the database a second; on busier farms "lately" is less than a day. */
const mostExecutions = 50_000;
/** The most expensive keys; other keys are found by their name. */
const mostKeys = 10_000;
/** The number of keys on the page of a class. */
const mostKeysOfClass = 20;

/** The executions within a day, and their cost. Takes a second on a large farm: cache it. */
export interface Usage {
  readonly lately: RecentExecutions;
  readonly window: SizeClassWindow;
  readonly ran: readonly ClassUsageRow[];
  readonly prices: readonly Price[];
  readonly saved: readonly SavedOn[];
  /** The most expensive first. */
  readonly keys: readonly KeyCost[];
}

export async function readClassesNow(db: Db, now: Date, leaseMs: number): Promise<ClassesNow> {
  const aliveSince = new Date(now.getTime() - leaseMs);
  return db.transaction(async (tx) => {
    await preferIndexes(tx);
    return {
      declared: await declaredClasses(tx),
      up: await workersUp(tx, now, aliveSince),
      queued: await queuedWork(tx),
      offers: await workerOffers(tx, aliveSince),
    };
  });
}

export function tableOf(classes: ClassesNow): ClassTable {
  return classTable(classes, defaultStartDelayMs);
}

export async function readUsage(db: Db, now: Date, table: ClassTable): Promise<Usage> {
  const lately = { since: new Date(now.getTime() - dayMs), most: mostExecutions };
  const { executions, first } = await endedLately(db, lately);
  const ran = await ranOn(db, lately);
  const prices = pricesOf(table, ran);
  const isCut = executions === mostExecutions;
  return {
    lately,
    window: {
      since: (isCut && first !== null ? first : lately.since).toISOString(),
      executions,
      isCut,
    },
    ran,
    prices,
    saved: await savedOn(db, lately, prices),
    keys: await costOfKeys(db, lately, prices, mostKeys),
  };
}

/** Returns whether prices have changed since these sums were computed: then costs on one page would not add up. */
export function hasOldPrices(table: ClassTable, { prices }: Usage): boolean {
  return prices.some((each) => table.priceOn(table.groupOf(each), each.sizeClass) !== each.price);
}

export function classesForPage(now: ClassesNow, usage: Usage): SizeClasses {
  const platforms = platformsForPage(now, tableOf(now), usage.ran, usage.saved);
  return {
    lately: usage.window,
    platforms,
    saved: sumOfSaved(platforms.map(({ saved }) => saved)),
  };
}

/** Returns the most expensive keys on one class of a platform. */
export function mostExpensiveKeys(
  db: Db,
  table: ClassTable,
  { lately, prices }: Usage,
  platform: string,
  sizeClass: number,
): Promise<KeyCost[]> {
  const among = prices.filter(
    (each) => each.sizeClass === sizeClass && table.groupOf(each).name === platform,
  );
  return costOfKeys(db, lately, prices, mostKeysOfClass, { sizeClass, among });
}
