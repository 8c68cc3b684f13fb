import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import type { IdleState } from "#core/idle-state.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { askForRedeliveries, tidyDeliveries } from "./ask-for-redeliveries.ts";
import { carryOutNext } from "./carry-out-commands.ts";
import type { FarmPort } from "./farm-port.ts";
import { type ForgeServices, type Forges, forgeFor } from "./forge-services.ts";
import { defaultForgeTimes, type ForgeTimes } from "./forge-times.ts";
import { outboxChannel } from "./outbox/outbox.store.ts";
import { sendOutbox } from "./outbox/send-outbox.ts";
import type { ReportSource } from "./reports/report-source.ts";
import { tellReports } from "./reports/tell-reports.ts";
import { findWatched, forgeChannel } from "./repository.store.ts";
import { wokenLoop } from "./woken-loop.ts";
import { workOnNext } from "./work-on-repository.ts";

interface ForgeModuleOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly service: FarmPort;
  readonly forges: Forges;
  /** The reports for forges; none without it. */
  readonly reports?: ReportSource | undefined;
  readonly times?: Partial<ForgeTimes> | undefined;
  readonly chance?: () => number;
  readonly idle?: IdleState | undefined;
}

export interface ForgeModule extends Service {
  /** Must be called after changes: starts a check at once. */
  wake(): void;
}

/** How many repositories, and commands, one server handles at the same time; they mostly wait for the network. */
const beside = 4;

/** Watches repositories at forges, while it runs. Any number of servers may do so. */
export async function openForgeModule(options: ForgeModuleOptions): Promise<ForgeModule> {
  const { db, clock, logger, service, forges, reports } = options;
  const times: ForgeTimes = { ...defaultForgeTimes, ...options.times };
  const chance = options.chance ?? Math.random;
  const services: ForgeServices = { db, clock, logger, service, forges, times, chance };
  const holder = randomUUID();

  const loop = (
    what: string,
    pass: (signal: AbortSignal) => Promise<"more" | Date | undefined>,
    lookMs = times.lookMs,
  ) =>
    wokenLoop({
      pass,
      lookMs,
      idle: options.idle,
      onTrouble: (reason) =>
        logger.warn({ reason: messageOf(reason) }, `${what} failed; it is repeated later`),
    });
  const oneByOne =
    (work: (signal: AbortSignal) => Promise<boolean>) => async (signal: AbortSignal) =>
      (await work(signal)) ? ("more" as const) : undefined;

  const loops = [
    ...Array.from({ length: beside }, () =>
      loop(
        "watching repositories",
        oneByOne((signal) => workOnNext(services, holder, signal)),
      ),
    ),
    ...Array.from({ length: beside }, () =>
      loop(
        "carrying out commands",
        oneByOne(() => carryOutNext(services)),
      ),
    ),
    ...(reports === undefined
      ? []
      : [
          loop(
            "determining what forges show",
            oneByOne(async () => (await tellReports({ db, clock, source: reports })) > 0),
          ),
        ]),
    ...(!forges.some(({ comments, checks, labels }) => comments ?? checks ?? labels)
      ? []
      : [
          loop("telling forges", async (signal) => {
            const sent = await sendOutbox(
              {
                db,
                clock,
                jitter: chance,
                // One call may wait twice for a forge's answer.
                times: { leaseMs: 2 * times.leaseMs },
                log: (sentence, fields) => logger.warn(fields, sentence),
                async forgeOf(name) {
                  const found = await findWatched(db, name);
                  if (found === undefined) return undefined;
                  return { forge: forgeFor(forges, found.kind), slug: found.slug };
                },
              },
              signal,
            );
            return sent.nextAt;
          }),
        ]),
  ];
  const tasks = [
    loop(
      "tidying webhooks",
      async () => {
        await tidyDeliveries(services);
        return undefined;
      },
      Math.min(60_000, times.reconcileMs),
    ),
    loop(
      "asking for webhooks that never came",
      async () => {
        await askForRedeliveries(services);
        return undefined;
      },
      times.reconcileMs,
    ),
  ];

  const wake = () => {
    for (const each of loops) each.wake();
  };
  const listening = await Promise.all(
    [forgeChannel, outboxChannel].map((channel) => db.listen(channel, wake)),
  );
  return {
    wake,
    async stop() {
      await Promise.all([...listening, ...loops, ...tasks].map((each) => each.stop()));
    },
  };
}
