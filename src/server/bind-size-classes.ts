import { type Principal, wholeFarm } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { Fault } from "#core/fault.ts";
import { ExecutionId } from "#execution/execution.ts";
import { recordAudit } from "#graphs/audit.store.ts";
import { explainExecution } from "#size-classes/pages/explain-execution.ts";
import { explainKey } from "#size-classes/pages/explain-key.ts";
import { hoursOfClass } from "#size-classes/pages/hours-of-class.ts";
import { listKeys, summariesOf } from "#size-classes/pages/list-keys.ts";
import {
  classesForPage,
  dearestOn,
  hasOldPrices,
  readClassesNow,
  readUsage,
  tableOf,
} from "#size-classes/pages/read-classes.ts";
import { changeSettings, type KeptSettings, readSettings } from "#size-classes/settings.store.ts";
import { usualSettings } from "#size-classes/settings.ts";
import { forAWhile } from "./for-a-while.ts";
import type { SizeClassFarm } from "./http/size-class-farm.ts";
import { meanwhile } from "./meanwhile.ts";
import type { Services } from "./services.ts";

/** Pages ask again every few seconds, and many of them at once. */
const nowForMs = 2_000;
/** Looks at all that ended within a day. */
const usageFor = { ms: 60_000, mostMs: 600_000 };

/** Size classes, for the HTTP API. */
export function bindSizeClasses({
  db,
  clock,
  queue,
}: Pick<Services, "db" | "clock" | "queue">): SizeClassFarm {
  const ms = () => clock.now().getTime();
  const classesNow = forAWhile(nowForMs, ms, () =>
    readClassesNow(db, clock.now(), queue.times.leaseMs),
  );
  const used = meanwhile(usageFor, ms, async () =>
    readUsage(db, clock.now(), tableOf(await classesNow())),
  );
  const usage = async () => {
    const table = tableOf(await classesNow());
    return used((value) => hasOldPrices(table, value));
  };
  const settings = async () => settingsForPage(await readSettings(db));

  return {
    executionSizeClass: (id) => db.transaction((tx) => explainExecution(tx, ExecutionId.parse(id))),
    sizeClasses: async () => classesForPage(await classesNow(), await usage()),

    async sizeClass(sizeClass, platform) {
      const now = await classesNow();
      const ranLately = await usage();
      const page = classesForPage(now, ranLately);
      const having = page.platforms.filter(
        (each) =>
          (platform === undefined || each.name === platform) &&
          each.classes.some((one) => one.sizeClass === sizeClass),
      );
      if (having.length > 1) throw several(sizeClass, having);
      const found = having[0];
      const own = found?.classes.find((one) => one.sizeClass === sizeClass);
      if (found === undefined || own === undefined) return undefined;
      const table = tableOf(now);
      const ran = ranLately.ran.filter(
        (each) => each.sizeClass === sizeClass && table.groupOf(each).name === found.name,
      );
      return {
        lately: page.lately,
        name: found.name,
        platform: found.platform,
        others: found.classes.flatMap((one) => (one === own ? [] : [one.sizeClass])),
        class: own,
        hours: hoursOfClass(ran, own.price, clock.now()),
        keys: await summariesOf(db, await dearestOn(db, table, ranLately, found.name, sizeClass)),
      };
    },

    sizeClassKeys: async (query) => listKeys(db, await usage(), query),
    sizeClassKey: (address) => db.transaction((tx) => explainKey(tx, address)),

    sizeClassSettings: settings,
    async setSizeClassSettings(change, by: Principal) {
      requireGrant(by, "administer", wholeFarm);
      await db.transaction(async (tx) => {
        await changeSettings(tx, change, by.name, clock.now());
        await recordAudit(tx, {
          actor: by.name,
          verb: "administer",
          detail: { what: "set how size classes are chosen", ...change },
        });
      });
      return settings();
    },
  };
}

function several(sizeClass: number, having: readonly { readonly name: string }[]): Fault {
  const names = having.slice(0, 10).map(({ name }) => `"${name}"`);
  return new Fault(
    "invalid_argument",
    `several platforms have a size class ${sizeClass}; say which with platform=NAME: ${names.join("; ")}`,
  );
}

function settingsForPage({ settings, changed }: KeptSettings) {
  return {
    settings,
    usual: usualSettings,
    changedBy: changed?.by ?? null,
    changedAt: changed?.at.toISOString() ?? null,
  };
}
