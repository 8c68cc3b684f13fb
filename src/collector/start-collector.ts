import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Clock, systemClock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { type HeldLock, takeLock, untilLost } from "#machine/holder-lock.ts";
import { makeDirectory } from "#machine/make-directory.ts";
import { MeasuringLock } from "#machine/measuring-lock.ts";
import { Collector, type CollectorOver } from "./collector.ts";
import type { CollectorOperations } from "./collector-operations.ts";
import type { CollectorParts } from "./collector-parts.ts";
import type { CollectorConfig } from "./config.ts";
import type { LabConnection } from "./lab-connection.ts";
import { LabContact } from "./lab-contact.ts";
import { refuseTarget } from "./refuse-target.ts";
import { Memory } from "./saved-state.ts";
import { type SelfTested, selfTest } from "./self-test.ts";
import { Spool } from "./spool.ts";
import { thisMachine } from "./this-machine.ts";

export interface RunningCollector extends Service {
  /** Resolves when it must not continue although `stop` was not called. */
  readonly over: Promise<CollectorOver>;
}

/** Starts a collector in this process. It is ready when this resolves, whether or not the server can be reached yet. */
export async function startCollector(
  config: CollectorConfig,
  lab: LabConnection,
  logger: Logger,
): Promise<RunningCollector> {
  return startCollectorOn(config, lab, () => thisMachine(config, lab, logger), logger);
}

export async function startCollectorOn(
  config: CollectorConfig,
  lab: LabConnection,
  openBench: () => Promise<CollectorOperations>,
  logger: Logger,
  clock: Clock = systemClock,
): Promise<RunningCollector> {
  const { parts, held, close } = await openParts(config, lab, openBench, logger, clock);
  const collector = new Collector(parts);
  collector.start();
  let stopping: Promise<void> | undefined;
  return {
    over: Promise.race([
      collector.over,
      untilLost(held.lost, `the directory ${config.dataDir}`).then(
        (why) => ({ kind: "replaced", why }) as const,
      ),
    ]),
    stop() {
      // The second call shortens the grace period; both wait for the same end.
      if (stopping) void collector.stop();
      stopping ??= collector.stop().then(close);
      return stopping;
    },
  };
}

/** Runs one self-test of a collector that does not run; returns undefined when it failed, which the log explains. */
export async function testOnce(
  config: CollectorConfig,
  lab: LabConnection,
  logger: Logger,
  signal: AbortSignal,
): Promise<SelfTested | undefined> {
  const openBench = () => thisMachine(config, lab, logger);
  const { parts, close } = await openParts(config, lab, openBench, logger, systemClock);
  try {
    const incarnation = randomUUID();
    const environment = await parts.bench.facts();
    const welcome = await lab.hello({ incarnation, version: config.version, environment }, signal);
    refuseTarget(config, welcome);
    return await selfTest(parts, incarnation, signal);
  } finally {
    await close();
  }
}

async function openParts(
  config: CollectorConfig,
  lab: LabConnection,
  openBench: () => Promise<CollectorOperations>,
  logger: Logger,
  clock: Clock,
): Promise<{
  readonly parts: CollectorParts;
  readonly held: HeldLock;
  readonly close: () => Promise<void>;
}> {
  const { dataDir, name } = config;
  const held = await holdDirectory(dataDir, name);
  try {
    const { spool, broken } = await Spool.open(dataDir, clock.now().getTime());
    if (broken.length > 0) logger.warn({ broken }, "removed incomplete files of results");
    const memory = await Memory.open(dataDir);
    const bench = await openBench();
    const lock = new MeasuringLock(config.measuringLock, name);
    const contact = new LabContact(logger);
    const close = async () => {
      await bench.close();
      await held.release();
    };
    return {
      parts: { config, lab, bench, spool, memory, lock, contact, clock, logger },
      held,
      close,
    };
  } catch (reason) {
    await held.release();
    throw reason;
  }
}

/** Locks the directory: two processes would send each other's results. */
async function holdDirectory(dataDir: string, name: string): Promise<HeldLock> {
  makeDirectory(dataDir, 0o700);
  const taken = await takeLock(directoryLock(dataDir), name);
  if ("lock" in taken) return taken.lock;
  const { holder } = taken;
  throw new Fault(
    "failed_precondition",
    `collector ${holder.name} (${holder.where}) uses ${dataDir}; stop it, or name another directory`,
  );
}

export function directoryLock(dataDir: string): string {
  return join(dataDir, "collector.lock");
}
