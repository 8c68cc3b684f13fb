import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { backoffMs } from "#core/backoff.ts";
import { messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { Service } from "#core/service.ts";
import type { Tracing } from "#tracing/tracing.ts";
import type { WorkerConfig } from "./config.ts";
import type { FarmConnection } from "./farm-connection.ts";
import { grpcFarmConnection } from "./grpc-farm-connection.ts";
import { openSession, type WorkerSession } from "./worker-session.ts";

export interface Worker extends Service {
  /** Resolves when a worker for one execution has delivered its result; never for any other worker. */
  readonly over: Promise<string>;
}

/** Starts a worker in this process. The worker is ready when this resolves, even if the farm is still unreachable. */
export function startWorker(
  config: WorkerConfig,
  logger: Logger,
  tracing?: Tracing,
): Promise<Worker> {
  return startWorkerOn(grpcFarmConnection(config), config, logger, tracing);
}

/**
 * Starts a worker with a connection to the farm.
 *
 * When a disk was mounted on its data directory, or unmounted, it gives its work back, closes the directory and opens
 * it again, as a new process would. To the farm it is still the same worker.
 */
export async function startWorkerOn(
  farm: FarmConnection,
  config: WorkerConfig,
  logger: Logger,
  tracing?: Tracing,
): Promise<Worker> {
  const identity = { workerName: config.name, instanceId: randomUUID() };
  const open = () => openSession({ farm, config, identity, logger, tracing });
  const stopped = new AbortController();
  const untilStopped = new Promise<"stopped">((resolve) => {
    stopped.signal.addEventListener("abort", () => resolve("stopped"), { once: true });
  });
  /** Undefined while its directory cannot be opened again. */
  let session: WorkerSession | undefined = await open();
  let tellOver: (why: string) => void = () => {};
  const over = new Promise<string>((resolve) => (tellOver = resolve));
  const following = follow();

  async function follow(): Promise<void> {
    while (session !== undefined) {
      const end = await Promise.race([session.over, untilStopped]);
      switch (end) {
        case "stopped":
          return;
        case "delivered":
          tellOver("the result of its only execution is delivered");
          return;
        case "replaced":
          logger.warn(
            { dataDir: config.dataDir },
            "another disk is mounted on the data directory; opening the directory again",
          );
          await close(session);
          session = undefined;
          session = await reopen();
      }
    }
  }

  async function close(replaced: WorkerSession): Promise<void> {
    await replaced
      .stopNow()
      .catch((reason: unknown) =>
        logger.warn({ reason: messageOf(reason) }, "the replaced directory was not closed cleanly"),
      );
  }

  /** Returns undefined when the worker is stopped before the directory can be opened. */
  async function reopen(): Promise<WorkerSession | undefined> {
    for (let failures = 1; !stopped.signal.aborted; failures++) {
      try {
        return await open();
      } catch (reason) {
        logger.warn({ reason: messageOf(reason) }, "the data directory cannot be opened");
        await rest(backoffMs(failures, Math.random()), stopped.signal);
      }
    }
    return undefined;
  }

  const stop = async () => {
    await following;
    await session?.stop();
    await farm.close();
  };
  let stopping: Promise<void> | undefined;
  return {
    over,
    stop() {
      // The second call makes the session stop faster; both calls wait for the same end.
      if (stopping) void session?.stop().catch(() => {});
      stopped.abort();
      stopping ??= stop();
      return stopping;
    },
  };
}
