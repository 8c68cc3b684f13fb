import type { Context } from "hono";
import { stream } from "hono/streaming";
import { recordAudit } from "#access/audit.store.ts";
import type { sizeClassEndpoints } from "#api/endpoints/size-class-endpoints.ts";
import { cachedFor } from "#core/cached-for.ts";
import { Fault } from "#core/fault.ts";
import { parseDuration } from "#definitions/duration.ts";
import { ExecutionId } from "#execution/execution.ts";
import { explainExecution } from "#size-classes/pages/explain-execution.ts";
import { explainKey } from "#size-classes/pages/explain-key.ts";
import { hoursOfClass } from "#size-classes/pages/hours-of-class.ts";
import { listKeys, summariesOf } from "#size-classes/pages/list-keys.ts";
import {
  classesForPage,
  hasOldPrices,
  mostExpensiveKeys,
  readClassesNow,
  readUsage,
  tableOf,
} from "#size-classes/pages/read-classes.ts";
import { changeSettings, type KeptSettings, readSettings } from "#size-classes/settings.store.ts";
import { defaultSettings } from "#size-classes/settings.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { meanwhile } from "../meanwhile.ts";
import { traceLines } from "../trace-lines.ts";
import { found } from "./found.ts";
import type { HandlerServices } from "./handler-services.ts";

/** Many pages repeat the request every few seconds. */
const nowForMs = 2_000;
/** Reads all executions that ended within a day. */
const usageFor = { ms: 60_000, mostMs: 600_000 };

const longestKey = 1_024;
const longestTraceMs = 366 * 86_400_000;

export function sizeClassHandlers(
  services: Pick<HandlerServices, "db" | "clock" | "queue">,
): HandlersFor<typeof sizeClassEndpoints> {
  const { db, clock, queue } = services;
  const ms = () => clock.now().getTime();
  const classesNow = cachedFor(nowForMs, ms, () =>
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
    async executionSizeClass({ params }) {
      const id = ExecutionId.parse(params.execution);
      const explained = await db.transaction((tx) => explainExecution(tx, id));
      return found(explained, `execution ${id}; it may be so old that the farm has deleted it`);
    },

    sizeClasses: async () => classesForPage(await classesNow(), await usage()),

    async sizeClass({ params, query: { platform } }) {
      const sizeClass = Number(params.sizeClass);
      const now = await classesNow();
      const ranLately = await usage();
      const page = classesForPage(now, ranLately);
      const having = page.platforms.filter(
        (each) =>
          (platform === undefined || each.name === platform) &&
          each.classes.some((one) => one.sizeClass === sizeClass),
      );
      if (having.length > 1) throw several(sizeClass, having);
      const where = platform === undefined ? "" : ` of the platform "${platform.slice(0, 200)}"`;
      const what = `size class ${sizeClass}${where}; \`grange size-classes\` lists them`;
      const on = found(having[0], what);
      const own = found(
        on.classes.find((one) => one.sizeClass === sizeClass),
        what,
      );
      const table = tableOf(now);
      const ran = ranLately.ran.filter(
        (each) => each.sizeClass === sizeClass && table.groupOf(each).name === on.name,
      );
      return {
        lately: page.lately,
        name: on.name,
        platform: on.platform,
        others: on.classes.flatMap((one) => (one === own ? [] : [one.sizeClass])),
        class: own,
        hours: hoursOfClass(ran, own.price, clock.now()),
        keys: await summariesOf(
          db,
          await mostExpensiveKeys(db, table, ranLately, on.name, sizeClass),
        ),
      };
    },

    sizeClassSettings: settings,
    async setSizeClassSettings({ body, caller }) {
      await db.transaction(async (tx) => {
        await changeSettings(tx, body, caller.name, clock.now());
        await recordAudit(tx, {
          actor: caller.name,
          verb: "administer",
          detail: { what: "set how size classes are chosen", ...body },
        });
      });
      return settings();
    },

    async sizeClassTrace({ query, context }) {
      const backMs = parseDuration(query.since) ?? 0;
      if (backMs <= 0 || backMs > longestTraceMs) {
        throw new Fault("invalid_argument", "since must be a duration up to 366d, such as 7d");
      }
      return streamLines(context, traceLines(services, backMs));
    },

    sizeClassKeys: async ({ query: { text, before, limit } }) =>
      listKeys(db, await usage(), { text, before, limit }),

    async sizeClassKey({ params, query: { project, domain } }) {
      const key = params.key.slice(0, longestKey);
      const explained = await db.transaction((tx) => explainKey(tx, { project, domain, key }));
      return found(
        explained,
        `key "${key.slice(0, 100)}" in the project "${project.slice(0, 100)}"; nothing that it names was executed, or that was so long ago that the farm forgot it`,
      );
    },
  };
}

/**
 * Streams lines of JSON. A failure before the first line is answered with its status; after a later one the
 * connection breaks.
 */
async function streamLines(
  context: Context,
  lines: ReturnType<typeof traceLines>,
): Promise<Response> {
  const first = await lines.next();
  context.header("content-type", "application/jsonl; charset=utf-8");
  return stream(context, async (body) => {
    for (let next = first; next.done !== true; next = await lines.next()) {
      // The client has disconnected.
      if (body.aborted) break;
      await body.write(next.value);
    }
    await lines.return();
  });
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
    usual: defaultSettings,
    changedBy: changed?.by ?? null,
    changedAt: changed?.at.toISOString() ?? null,
  };
}
