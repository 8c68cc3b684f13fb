import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { benchmarkChannel } from "../channels.ts";
import { suiteNames } from "../suites.store.ts";
import { requestAdvancer } from "./advance.ts";
import { discoverAll } from "./discover.ts";
import { acquireDuty, releaseDuty } from "./leader.store.ts";
import type { RequestHooks } from "./request-hooks.ts";
import { endAbandonedJobs, removeOldJobs } from "./request-job.store.ts";
import type { SourceService } from "./source-service.ts";

interface CronServices {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hooks: RequestHooks;
  readonly sources: SourceService;
  /** Further steps after a change, for example advancing searches. The key is the name for the log. */
  readonly alsoThen?: Readonly<Record<string, () => Promise<unknown>>>;
  /** Returns how long jobs are kept after their end, in ms; null: for ever. 30 days when absent (R14). */
  readonly keepJobsMs?: () => Promise<number | null>;
  /** How often it checks without a notification. */
  readonly everyMs?: number | undefined;
  readonly leaseMs?: number;
  /** While the farm is idle, no server has to hold the duty between two checks. */
  readonly idle?: IdleState | undefined;
}

const duty = "benchmark requests";
/** rustc-perf's period. Changes wake the loop at once; this is the fallback. */
const defaultEveryMs = 30_000;
/** A server that died is replaced after this time and a third of it: within 10 s. */
const defaultLeaseMs = 7_000;
const dayMs = 24 * 60 * 60 * 1_000;
/** R14. A job that no collector has taken for this time ends, too. */
const defaultKeepJobsMs = 30 * dayMs;
const removeEveryMs = 10 * 60_000;

/**
 * Advances benchmark requests: on one server at a time, woken by every change.
 *
 * Several servers would be safe, too, because each step is safe to run concurrently; a single one avoids duplicate
 * work.
 */
export async function startBenchmarkCron(services: CronServices): Promise<Service> {
  const {
    db,
    clock,
    logger,
    sources,
    everyMs = defaultEveryMs,
    leaseMs = defaultLeaseMs,
  } = services;
  const holder = randomUUID();
  const advancer = requestAdvancer(services);
  let isStopped = false;
  let isNew = true;
  let isLeader = false;
  let working: Promise<void> | undefined;
  let looking: Promise<void> | undefined;
  let lookedAt = 0;
  let removedAt = 0;
  let discoveredAt = 0;

  const step = async (name: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (reason) {
      logger.warn(
        { step: name, err: reason },
        "a step of the benchmark lab failed; it will be repeated",
      );
    }
  };
  const discover = () =>
    step("discover artifacts", () =>
      discoverAll({ db, clock, sources }, (suite, reason) => {
        logger.warn(
          { suite, reason: messageOf(reason) },
          "the source of a suite's artifacts could not be asked; trying again",
        );
      }),
    );

  const round = async () => {
    isLeader = await acquireDuty(db, duty, holder, leaseMs);
    if (!isLeader) return;
    for (const name of await suiteNames(db)) {
      await step(`advance ${name}`, () => advancer.advance(name));
    }
    for (const [name, work] of Object.entries(services.alsoThen ?? {})) await step(name, work);
    if (Date.now() - removedAt >= removeEveryMs) {
      removedAt = Date.now();
      await step("remove old jobs", async () => {
        const ago = (ms: number) => new Date(clock.now().getTime() - ms);
        await endAbandonedJobs(db, ago(defaultKeepJobsMs), clock.now());
        const keepMs = await (services.keepJobsMs?.() ?? defaultKeepJobsMs);
        if (keepMs === null) return;
        while ((await removeOldJobs(db, ago(keepMs))) > 0);
      });
    }
    if (Date.now() - discoveredAt < everyMs) return;
    discoveredAt = Date.now();
    // A source may take minutes to answer; no other step waits for it.
    looking ??= discover().finally(() => {
      looking = undefined;
    });
  };

  const wake = () => {
    isNew = true;
    if (isStopped || working !== undefined) return;
    working = (async () => {
      while (isNew && !isStopped) {
        isNew = false;
        lookedAt = Date.now();
        await step("hold the duty", round);
      }
      working = undefined;
    })();
  };

  const keepOrTake = async () => {
    const before = isLeader;
    isLeader = await acquireDuty(db, duty, holder, leaseMs);
    if (isLeader && !before) wake();
  };

  const listening = await db.listen(benchmarkChannel, wake);
  // Often enough to keep the lease, and to take over the lease of a dead server.
  const timerMs = Math.min(everyMs, leaseMs / 3);
  const renewOrWake = () => {
    if (Date.now() - lookedAt >= everyMs) wake();
    else void step("hold the duty", keepOrTake);
  };
  // Sources are read while the farm is idle, too.
  const stopTimer = startPacedTimer(timerMs, services.idle, renewOrWake, everyMs);
  wake();

  return {
    async stop() {
      if (isStopped) return;
      isStopped = true;
      stopTimer();
      await listening.stop();
      await working;
      await looking;
      await step("release the duty", () => releaseDuty(db, duty, holder));
    },
  };
}
