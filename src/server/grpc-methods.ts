import type { Logger } from "pino";
import { mayDo, requireGrant } from "#access/require-grant.ts";
import { lookUpActionResult } from "#actions/action-cache.ts";
import type { Digest } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Method } from "#grpc/method.ts";
import { actionCacheService } from "./grpc/action-cache-service.ts";
import { buildEventService } from "./grpc/build-event-service.ts";
import { byteStreamService } from "./grpc/byte-stream-service.ts";
import { grpcCallers } from "./grpc/caller.ts";
import { capabilitiesService } from "./grpc/capabilities-service.ts";
import { casService } from "./grpc/cas-service.ts";
import { executionService, type Scope } from "./grpc/execution-service.ts";
import { operationsService } from "./grpc/operations-service.ts";
import { projectOf } from "./grpc/project-of.ts";
import { workersService } from "./grpc/workers-service.ts";
import type { Rooms } from "./open-rooms.ts";

/** For actions that name no timeout of their own. */
const defaultTimeoutMs = 60 * 60_000;

/** All that the farm serves over gRPC. */
export function grpcMethods(rooms: Rooms, logger: Logger): Method[] {
  const { blobs, trees, queue, operations, notes, db } = rooms;
  const callers = grpcCallers(rooms.callers);
  // Results are made from the action alone, whoever asked: what an action's digest names is the same
  // for all who may ask for it.
  const domain = protectedDomain;
  const lookUpResult = async (scope: Scope, actionDigest: Digest) =>
    (await lookUpActionResult(db, trees, { ...scope, actionDigest }, "clients too"))?.result ??
    rooms.caches.resultPutFor(scope.project, actionDigest);

  return [
    ...callers.guard([
      ...capabilitiesService({
        execution: true,
        actionCacheUpdates: async ({ instanceName }, context) =>
          mayDo(await callers.of(context), "cache", {
            repository: projectOf(instanceName),
            branch: "",
          }),
      }),
      ...casService(blobs, (err) => logger.error({ err }, "a blob could not be served")),
      ...byteStreamService(blobs, rooms.uploads),
      ...actionCacheService({ db, trees, notes, callers, domain, lookUpResult }),
      ...executionService({
        operations,
        notes,
        blobs: rooms.recentBlobs,
        callers,
        domain,
        lookUpResult,
        defaultTimeoutMs,
      }),
      ...operationsService({ operations, blobs, callers }),
      ...buildEventService({
        db,
        clock: rooms.clock,
        logger,
        async reporterOf(context, projectId) {
          const project = projectOf(projectId);
          const principal = await callers.of(context);
          requireGrant(principal, "report", { repository: project, branch: "" });
          return { project, principal: principal.name };
        },
      }),
    ]),
    // Workers have no tokens of their own yet.
    ...workersService({ queue, blobs: rooms.recentBlobs }),
  ];
}
