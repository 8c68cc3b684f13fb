import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { RegisterRequestSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import type { AgentParts } from "./agent.ts";

/** For a farm that does not say how often it wants to hear from us. */
const usualHeartbeatMs = 5_000;

/** Makes the worker known to the farm. Answers how often the farm wants to hear from it, in ms. */
export async function registerWorker(
  parts: Pick<AgentParts, "farm" | "identity" | "config" | "facilities">,
): Promise<number> {
  const { farm, identity, config, facilities } = parts;
  const { platform, sizeClass, slots, version } = config;
  const { workerName: name, instanceId } = identity;
  const request = { name, instanceId, platform, sizeClass, slots, version, facilities };
  const answer = await farm.register(create(RegisterRequestSchema, request));
  return answer.heartbeatInterval ? durationMs(answer.heartbeatInterval) : usualHeartbeatMs;
}
