import type { Logger } from "pino";
import { lookUpActionResult } from "#actions/action-cache.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Method } from "#grpc/method.ts";
import { actionCacheReader } from "./grpc/action-cache-reader.ts";
import { byteStreamService } from "./grpc/byte-stream-service.ts";
import { capabilitiesService } from "./grpc/capabilities-service.ts";
import { casService } from "./grpc/cas-service.ts";
import { executionService, type Scope } from "./grpc/execution-service.ts";
import { workersService } from "./grpc/workers-service.ts";
import type { Rooms } from "./open-rooms.ts";

/** For actions that name no timeout of their own. */
const defaultTimeoutMs = 60 * 60_000;

/** All that the farm serves over gRPC. */
export function grpcMethods(rooms: Rooms, logger: Logger): Method[] {
  const { blobs, trees, queue, db } = rooms;
  // Results are made by this farm's workers from the action alone, whoever asked:
  // what an action's digest names is the same for all who may ask for it.
  const scopeOf = (): Scope => ({ project: rooms.project, domain: protectedDomain });

  return [
    ...capabilitiesService({ execution: true, actionCacheUpdates: false }),
    ...casService(blobs, (err) => logger.error({ err }, "a blob could not be served")),
    ...byteStreamService(blobs),
    ...actionCacheReader(async (_, actionDigest) => {
      const hit = await lookUpActionResult(db, trees, { ...scopeOf(), actionDigest });
      return hit?.result;
    }),
    ...executionService({
      queue,
      blobs,
      scopeOf,
      lookUpResult: async (scope, actionDigest) =>
        (await lookUpActionResult(db, trees, { ...scope, actionDigest }))?.result,
      defaultTimeoutMs,
    }),
    ...workersService({ queue, blobs }),
  ];
}
