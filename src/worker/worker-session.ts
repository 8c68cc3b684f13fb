import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import { imagesOffer } from "#core/platform.ts";
import { rest } from "#core/resting.ts";
import type { Service } from "#core/service.ts";
import type { Tracing } from "#tracing/tracing.ts";
import { Agent, type AgentEnd } from "./agent.ts";
import { isolationOf } from "./attacks/isolation-of.ts";
import type { WorkerConfig } from "./config.ts";
import { ActionExecutor } from "./execute-action.ts";
import { farmAddress } from "./farm-address.ts";
import type { FarmConnection } from "./farm-connection.ts";
import { sweepLeftovers } from "./leftovers.ts";
import { type Machine, openMachine } from "./machine.ts";
import { ResultReporter, type WorkerIdentity } from "./report-results.ts";
import { RetryWindow } from "./retry-window.ts";
import { Spool } from "./spool.ts";
import { trimStore } from "./trim-store.ts";

const trimEveryMs = 10 * 60_000;

/** A worker from the opening of its data directory to its end. `stop` again makes it stop faster. */
export interface WorkerSession extends Service {
  /** Resolves when the agent claims nothing more by itself. */
  readonly over: Promise<AgentEnd>;
  /** Stops without waiting for running executions, which go back to the farm. */
  stopNow(): Promise<void>;
}

interface SessionParts {
  readonly farm: FarmConnection;
  readonly config: WorkerConfig;
  readonly identity: WorkerIdentity;
  readonly logger: Logger;
  readonly tracing?: Tracing | undefined;
}

/** Opens the data directory and starts to claim, even if the farm is still unreachable. */
export async function openSession(parts: SessionParts): Promise<WorkerSession> {
  const { config, logger } = parts;
  await sweepLeftovers(config.dataDir);
  const retryWindow = new RetryWindow();
  const machine = await openMachine(config, retryWindow);
  const facilities = { ...machine.facilities, ...persistentText(machine, config) };
  const offered = {
    ...(machine.images === undefined ? {} : { [imagesOffer]: "oci" }),
    ...isolationOf(machine.defences),
  };
  const withOffer = {
    ...parts,
    config: { ...config, platform: { ...config.platform, ...offered } },
  };
  logger.info(
    { facilities, slots: config.slots, sizeClass: config.sizeClass },
    "the worker is ready",
  );
  try {
    await preload(machine, config.preload, logger);
    return await startSession(withOffer, { ...machine, facilities }, retryWindow);
  } catch (reason) {
    await machine.close();
    throw reason;
  }
}

/** Returns the line about processes for several actions, for a worker that is to keep some. */
function persistentText(
  { inputRoots, sandbox }: Machine,
  { persistentWorkers }: WorkerConfig,
): Readonly<Record<string, string>> {
  if (persistentWorkers === 0) return {};
  const isPossible = inputRoots.kind === "overlay" && sandbox.waiting !== undefined;
  const text = isPossible
    ? `at most ${persistentWorkers} kept`
    : "none, since a running sandbox does not see input trees that are mounted later";
  return { "persistent workers": text };
}

/** A worker that cannot have an image now pulls it for the first action that names it. */
async function preload(
  { images }: Machine,
  names: readonly string[],
  logger: Logger,
): Promise<void> {
  for (const name of names) {
    try {
      if (images === undefined) throw new Error("this worker runs no container images");
      const image = await images.open(name);
      image.release();
      logger.info({ image: name, pulledMs: Math.round(image.pulledMs) }, "an image is preloaded");
    } catch (reason) {
      logger.warn({ image: name, reason: messageOf(reason) }, "an image cannot be preloaded");
    }
  }
}

async function startSession(
  { farm, config, identity, logger, tracing }: SessionParts,
  machine: Machine,
  retryWindow: RetryWindow,
): Promise<WorkerSession> {
  const executor = new ActionExecutor(machine, {
    ...config,
    warn: (facts, text) => logger.warn(facts, text),
    farmAddress: () => farmAddress(config),
  });
  const spool = await Spool.open(config.dataDir, config.name);
  const reporter = new ResultReporter(farm, identity, spool, logger);
  const agent = new Agent({
    config,
    farm,
    identity,
    executor,
    reporter,
    facilities: machine.facilities,
    retryWindow,
    isReplaced: () => machine.isReplaced(),
    // A heartbeat must not fail because of a disk.
    images: async () => (await machine.images?.keys().catch(() => [])) ?? [],
    logger,
    tracing,
  });
  const stopped = new AbortController();
  await reporter.deliverLeft();
  agent.start();
  const trimming = trimNowAndThen();
  const stop = async (stopAgent: () => Promise<void>) => {
    await stopAgent();
    stopped.abort();
    await trimming;
    await machine.close();
  };

  async function trimNowAndThen(): Promise<void> {
    while (!stopped.signal.aborted) {
      const { dataDir, storeBytes } = config;
      await trimStore(dataDir, machine.local, machine.layers, storeBytes, new Date()).catch(
        (reason: unknown) =>
          logger.warn({ reason: messageOf(reason) }, "the store cannot be trimmed"),
      );
      await machine.images
        ?.trim(Date.now())
        .catch((reason: unknown) =>
          logger.warn({ reason: messageOf(reason) }, "the images cannot be trimmed"),
        );
      await rest(trimEveryMs, stopped.signal);
    }
  }

  let stopping: Promise<void> | undefined;
  return {
    over: agent.over,
    stop() {
      // The second call makes the agent stop faster; both calls wait for the same end.
      if (stopping) void agent.stop();
      stopping ??= stop(() => agent.stop());
      return stopping;
    },
    stopNow() {
      stopping ??= stop(() => agent.stopNow());
      return stopping;
    },
  };
}
