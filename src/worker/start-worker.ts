import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { Service } from "#core/service.ts";
import { Agent } from "./agent.ts";
import type { WorkerConfig } from "./config.ts";
import { ActionExecutor } from "./execute-action.ts";
import { farmAddress } from "./farm-address.ts";
import type { FarmConnection } from "./farm-connection.ts";
import { grpcFarmConnection } from "./grpc-farm-connection.ts";
import { sweepLeftovers } from "./leftovers.ts";
import { openMachine } from "./machine.ts";
import { ResultReporter } from "./report-results.ts";
import { RetryWindow } from "./retry-window.ts";
import { Spool } from "./spool.ts";
import { trimStore } from "./trim-store.ts";

const trimEveryMs = 10 * 60_000;

export interface Worker extends Service {
  /** Resolves when a worker for one execution has delivered its result; never for any other worker. */
  readonly over: Promise<string>;
}

/** Starts a worker in this process. The worker is ready when this resolves, even if the farm is still unreachable. */
export function startWorker(config: WorkerConfig, logger: Logger): Promise<Worker> {
  return startWorkerOn(grpcFarmConnection(config), config, logger);
}

export async function startWorkerOn(
  farm: FarmConnection,
  config: WorkerConfig,
  logger: Logger,
): Promise<Worker> {
  await sweepLeftovers(config.dataDir);
  const retryWindow = new RetryWindow();
  const machine = await openMachine(config, retryWindow);
  const { facilities } = machine;
  logger.info(
    { facilities, slots: config.slots, sizeClass: config.sizeClass },
    "the worker is ready",
  );

  const identity = { workerName: config.name, instanceId: randomUUID() };
  const executor = new ActionExecutor(machine, {
    ...config,
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
    facilities,
    retryWindow,
    logger,
  });
  const stopped = new AbortController();

  await reporter.deliverLeft();
  agent.start();
  const trimming = trimNowAndThen();
  const stop = async () => {
    await agent.stop();
    stopped.abort();
    await trimming;
    await machine.close();
    await farm.close();
  };

  async function trimNowAndThen(): Promise<void> {
    while (!stopped.signal.aborted) {
      const { dataDir, storeBytes } = config;
      await trimStore(dataDir, machine.local, machine.layers, storeBytes, new Date()).catch(
        (reason: unknown) =>
          logger.warn({ reason: messageOf(reason) }, "the store cannot be trimmed"),
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
      stopping ??= stop();
      return stopping;
    },
  };
}
