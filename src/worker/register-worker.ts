import { hostname } from "node:os";
import { create } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { RegisterRequestSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import type { AgentParts } from "./agent-parts.ts";

/** The interval of heartbeats for a farm that does not state it, in ms. */
const defaultHeartbeatMs = 5_000;

/**
 * Registers the worker with the farm. Returns how often the farm expects a heartbeat, and how long leases last without
 * one; both in ms.
 */
export async function registerWorker(
  parts: Pick<AgentParts, "farm" | "identity" | "config" | "facilities">,
  images: readonly string[],
): Promise<{ readonly heartbeatMs: number; readonly leaseMs: number }> {
  const { farm, identity, config, facilities } = parts;
  const { platform, sizeClass, slots, version, transport, leaseMs } = config;
  const { cpus = 0, memoryBytes = 0 } = config;
  const { workerName: name, instanceId } = identity;
  const request = create(RegisterRequestSchema, {
    name,
    instanceId,
    platform,
    sizeClass,
    slots,
    version,
    facilities,
    cpus,
    memoryBytes: BigInt(memoryBytes),
    transport,
    host: hostname(),
    images: { keys: [...images] },
    ...(leaseMs === undefined ? {} : { lease: durationFromMs(leaseMs) }),
  });
  const { heartbeatInterval, leaseDuration } = await farm.register(request);
  return {
    heartbeatMs: heartbeatInterval ? durationMs(heartbeatInterval) : defaultHeartbeatMs,
    leaseMs: leaseDuration ? durationMs(leaseDuration) : 0,
  };
}
