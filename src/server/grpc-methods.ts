import type { Logger } from "pino";
import { requireGrant } from "#access/require-grant.ts";
import { domainOfClient, mayKeep } from "#access/trust-domains/domain-of-client.ts";
import { lookUpActionResult } from "#actions/action-cache.ts";
import { keepClientResult } from "#actions/client-results.ts";
import { actionCacheService } from "#cache-protocols/rev2/action-cache-service.ts";
import { byteStreamService } from "#cache-protocols/rev2/byte-stream-service.ts";
import { grpcCallers } from "#cache-protocols/rev2/caller.ts";
import { capabilitiesService } from "#cache-protocols/rev2/capabilities-service.ts";
import { casService } from "#cache-protocols/rev2/cas-service.ts";
import { projectOf } from "#cache-protocols/rev2/project-of.ts";
import type { Digest } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import { holdersOf, standingOfWorker } from "#execution/worker-principal.store.ts";
import { openGranaries } from "#granaries/open-granaries.ts";
import type { Method } from "#grpc/method.ts";
import { buildEventService } from "./grpc/build-event-service.ts";
import { executionService } from "./grpc/execution-service.ts";
import { granariesOfDomains } from "./grpc/granaries-of-domains.ts";
import { granariesService } from "./grpc/granaries-service.ts";
import { operationsService } from "./grpc/operations-service.ts";
import { workerGate } from "./grpc/worker-gate.ts";
import { workersService } from "./grpc/workers-service.ts";
import { knowsCommit } from "./knows-commit.ts";
import { noteWorkerOffence } from "./note-worker-offence.ts";
import type { Rooms } from "./open-rooms.ts";

/** For actions that name no timeout of their own. */
const defaultTimeoutMs = 60 * 60_000;

/** All that the farm serves over gRPC. */
export function grpcMethods(rooms: Rooms, logger: Logger): Method[] {
  const { blobs, trees, queue, operations, notes, db } = rooms;
  const callers = grpcCallers(rooms.callers);
  const knows = knowsCommit(rooms);
  const lookUpResult = async (where: { project: string; domain: TrustDomain }, action: Digest) =>
    (await lookUpActionResult(db, trees, { ...where, actionDigest: action }, "clients too"))
      ?.result ?? rooms.caches.resultPutFor(where.project, action);

  return [
    ...callers.guard([
      ...capabilitiesService({
        execution: true,
        actionCacheUpdates: async ({ instanceName }, context) =>
          mayKeep(await callers.of(context), projectOf(instanceName)),
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
        lookUpResult: ({ asking: { project }, caller, actionDigest }) =>
          lookUpResult({ project, domain: domainOfClient(caller, project) }, actionDigest),
        keepResult: ({ asking: { project }, caller, actionDigest }, result) => {
          const domain = domainOfClient(caller, project);
          const principal = caller.name;
          return keepClientResult(db, trees, { project, domain, actionDigest, result, principal });
        },
      }),
      ...executionService({
        operations,
        notes,
        blobs: rooms.recentBlobs,
        callers,
        lookUpResult,
        defaultTimeoutMs,
      }),
      ...operationsService({ operations, blobs, callers }),
      ...granariesService({
        callers,
        clock: rooms.clock,
        granariesOf: granariesOfDomains((domain) =>
          openGranaries({
            db,
            blobs,
            trees,
            domain,
            logger,
            caches: rooms.caches,
            clock: rooms.clock,
            knowsCommit: knows,
          }),
        ),
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
    ...callers.guard(
      workersService({
        queue,
        gate: workerGate({
          callerOf: (context) => callers.of(context),
          standingOf: (process) => standingOfWorker(db, process),
          holdersOf: (ids) => holdersOf(db, ids),
          offended: noteWorkerOffence(rooms, logger),
        }),
        blobs: rooms.recentBlobs,
        secrets: {
          open: (references, domain) => rooms.secrets.valuesOf(references, domain),
          inClear: rooms.secretsInClear,
        },
      }),
    ),
  ];
}
