import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  ClaimRequestSchema,
  FinishedSchema,
  FinishRequestSchema,
  HeartbeatRequestSchema,
  Outcome,
  RegisterRequestSchema,
} from "#proto/grange/worker/v1/worker_pb.ts";
import { grpcFarmConnection } from "#worker/grpc-farm-connection.ts";

/** Workers that use the whole protocol but run nothing: each execution succeeds as soon as it is claimed. */
interface LightWorkers {
  /** Called with each execution when it reaches its worker, and how long its worker waited for it, in ms. */
  onClaimed: (actionHash: string, waitedMs: number) => void;
  stop(): Promise<void>;
}

/** The waits of the worker program, and its heartbeat interval without work. */
const claimWaitMs = 20_000;
const idleHeartbeatMs = 6_000;
const registeredAtOnce = 50;
/** A call has a limit of 15 s, as long as a lease. */
const mostReports = 3;

/**
 * @param servers the address of the farm, or of its servers, among which the workers are divided
 * @param pauseMs The time from a claim that gave work to the next claim of this worker.
 * @param prefix The first part of their names.
 */
export async function startLightWorkers(
  servers: string | readonly string[],
  count: number,
  { pauseMs = 0, prefix = "light" } = {},
): Promise<LightWorkers> {
  const addresses = [servers].flat();
  const ends: AbortController[] = [];
  const running: Promise<unknown>[] = [];
  const workers: LightWorkers = {
    onClaimed: () => {},
    async stop() {
      for (const end of ends) end.abort();
      await Promise.allSettled(running);
    },
  };
  for (let from = 0; from < count; from += registeredAtOnce) {
    const some = Array.from(
      { length: Math.min(registeredAtOnce, count - from) },
      (_, i) => from + i,
    );
    await Promise.all(
      some.map(async (n) => {
        // Each has its own: a signal searches all its listeners when one is added.
        const over = new AbortController();
        ends.push(over);
        const farm = grpcFarmConnection({ server: addresses[n % addresses.length] ?? "" });
        const identity = { workerName: `${prefix}-${n}`, instanceId: randomUUID() };
        const request = create(RegisterRequestSchema, {
          name: identity.workerName,
          instanceId: identity.instanceId,
          platform: { OSFamily: "linux" },
          sizeClass: 1,
          slots: 1,
        });
        // Like real workers, which repeat it for longer.
        await farm.register(request).catch(async () => {
          await delay(1_000);
          return farm.register(request);
        });
        // The heartbeats of real workers are not in step either.
        const firstBeatMs = Math.random() * idleHeartbeatMs;
        running.push(
          work(farm, identity, workers, pauseMs, over.signal),
          beat(farm, identity, firstBeatMs, over.signal),
        );
      }),
    );
  }
  return workers;
}

type FarmOfWorker = ReturnType<typeof grpcFarmConnection>;
interface Identity {
  readonly workerName: string;
  readonly instanceId: string;
}

async function work(
  farm: FarmOfWorker,
  identity: Identity,
  workers: LightWorkers,
  pauseMs: number,
  signal: AbortSignal,
): Promise<void> {
  const request = create(ClaimRequestSchema, {
    ...identity,
    most: 1,
    wait: durationFromMs(claimWaitMs),
  });
  while (!signal.aborted) {
    const sentAt = performance.now();
    const { leases } = await farm.claim(request, signal).catch(async () => {
      await delay(500, undefined, { signal }).catch(() => {});
      return { leases: [] };
    });
    const waitedMs = performance.now() - sentAt;
    for (const { lease, actionDigest } of leases) {
      workers.onClaimed(actionDigest?.hash ?? "", waitedMs);
      const finished = create(FinishedSchema, {
        ...(lease === undefined ? {} : { lease }),
        outcome: Outcome.SUCCEEDED,
        result: create(ActionResultSchema, { exitCode: 0 }),
      });
      const report = create(FinishRequestSchema, { ...identity, finished: [finished] });
      await finish(() => farm.finish(report), signal);
    }
    if (leases.length > 0 && pauseMs > 0)
      await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
  await farm.close();
}

/**
 * Reports an end until it is answered, like real workers: a busy server may need longer than the limit of a call. After
 * some tries another worker gets the execution, and the count of claims shows it.
 */
async function finish(report: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < mostReports && !signal.aborted; tries++) {
    try {
      await report();
      return;
    } catch {
      await delay(500, undefined, { signal }).catch(() => {});
    }
  }
}

async function beat(
  farm: FarmOfWorker,
  identity: Identity,
  firstMs: number,
  signal: AbortSignal,
): Promise<void> {
  const request = create(HeartbeatRequestSchema, identity);
  await delay(firstMs, undefined, { signal }).catch(() => {});
  while (!signal.aborted) {
    await delay(idleHeartbeatMs, undefined, { signal }).catch(() => {});
    if (!signal.aborted) await farm.heartbeat(request).catch(() => {});
  }
}
