import type { Logger } from "pino";
import { mayDo, requireGrant } from "#access/require-grant.ts";
import { lookUpActionResult } from "#actions/action-cache.ts";
import { keepClientResult } from "#actions/client-results.ts";
import { actionCacheService } from "#cache-protocols/rev2/action-cache-service.ts";
import { byteStreamService } from "#cache-protocols/rev2/byte-stream-service.ts";
import { grpcCallers } from "#cache-protocols/rev2/caller.ts";
import { capabilitiesService } from "#cache-protocols/rev2/capabilities-service.ts";
import { casService } from "#cache-protocols/rev2/cas-service.ts";
import { projectOf } from "#cache-protocols/rev2/project-of.ts";
import type { Digest } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { openGranaries } from "#granaries/open-granaries.ts";
import type { Method } from "#grpc/method.ts";
import { buildEventService } from "./grpc/build-event-service.ts";
import { executionService } from "./grpc/execution-service.ts";
import { granariesService } from "./grpc/granaries-service.ts";
import { operationsService } from "./grpc/operations-service.ts";
import { workersService } from "./grpc/workers-service.ts";
import { knowsCommit } from "./knows-commit.ts";
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
  const lookUpResult = async (project: string, actionDigest: Digest) =>
    (await lookUpActionResult(db, trees, { project, domain, actionDigest }, "clients too"))
      ?.result ?? rooms.caches.resultPutFor(project, actionDigest);

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
      ...casService(
        () => blobs,
        (err) => logger.error({ err }, "a blob could not be served"),
      ),
      ...byteStreamService(() => blobs, rooms.uploads),
      ...actionCacheService({
        blobsFor: () => blobs,
        notes,
        callers,
        lookUpResult: ({ asking, actionDigest }) => lookUpResult(asking.project, actionDigest),
        keepResult: ({ asking: { project, principal }, actionDigest }, result) =>
          keepClientResult(db, trees, { project, domain, actionDigest, result, principal }),
      }),
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
      ...granariesService({
        callers,
        clock: rooms.clock,
        granaries: openGranaries({
          db,
          blobs,
          trees,
          domain,
          logger,
          caches: rooms.caches,
          clock: rooms.clock,
          knowsCommit: knowsCommit(rooms),
        }),
      }),
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
