import type { Logger } from "pino";
import { requireMayWriteBlobs } from "#access/blob-writes/may-write.ts";
import { requireMayFindBlobs, requireMayReadBlobs, requireMayReadLogs } from "#access/may-read.ts";
import { requireGrant } from "#access/require-grant.ts";
import { domainOfClient, mayKeep } from "#access/trust-domains/domain-of-client.ts";
import { lookUpActionResult } from "#actions/action-cache.ts";
import { keepClientResult } from "#actions/client-results.ts";
import { chunkLists } from "#caches/chunk-lists/chunk-lists.ts";
import { actionCacheService } from "#caches/rev2/action-cache-service.ts";
import type { BlobsFor } from "#caches/rev2/blobs-for.ts";
import { byteStreamService } from "#caches/rev2/byte-stream-service.ts";
import { type GrpcCallers, grpcCallers } from "#caches/rev2/caller.ts";
import { capabilitiesService } from "#caches/rev2/capabilities-service.ts";
import { casService } from "#caches/rev2/cas-service.ts";
import { chunkingService } from "#caches/rev2/chunking-service.ts";
import { projectOf } from "#caches/rev2/project-of.ts";
import { guardedReads } from "#cas/namespaces/guarded-reads.ts";
import { guardedWrites } from "#cas/namespaces/guarded-writes.ts";
import { anyMayBegin } from "#cas/namespaces/project-blobs.ts";
import type { Digest } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import { holdersOf, standingOfWorker } from "#execution/leasing/worker-principal.store.ts";
import { openGranaries } from "#granaries/open-granaries.ts";
import { openSentLately } from "#granaries/recently-sent-blobs.ts";
import type { CallContext } from "#grpc/call-context.ts";
import type { Method } from "#grpc/method.ts";
import { guardedFetch } from "#outgoing/guarded-fetch.ts";
import { assetFetcher } from "./assets/asset-fetcher.ts";
import { assetStore } from "./assets/asset-store.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { ServerConfig } from "./config.ts";
import { readExecutionLog } from "./execution-log.ts";
import { assetServices } from "./grpc/asset-services.ts";
import { buildEventService } from "./grpc/build-event-service.ts";
import { executionService } from "./grpc/execution-service.ts";
import { granariesOfDomains } from "./grpc/granaries-of-domains.ts";
import { granariesService } from "./grpc/granaries-service.ts";
import { healthService } from "./grpc/health-service.ts";
import { addressOf, limitedMethods, methodsWithoutDatabase } from "./grpc/limited-methods.ts";
import { logStreams } from "./grpc/log-streams.ts";
import { methodRights } from "./grpc/method-rights.ts";
import { operationsService } from "./grpc/operations-service.ts";
import { pinnedDigest } from "./grpc/pinned-action.ts";
import { reflectionServices } from "./grpc/reflection-service.ts";
import { workerGate } from "./grpc/worker-gate.ts";
import { workersService } from "./grpc/workers-service.ts";
import type { ReadinessProbe } from "./health/readiness.ts";
import { knowsCommit } from "./knows-commit.ts";
import { noteWorkerOffence } from "./note-worker-offence.ts";
import type { RequestLimits } from "./request-limits/request-limits.ts";
import { requireMayBegin } from "./require-may-begin.ts";
import type { Services } from "./services.ts";
import { executionSpans } from "./tracing/execution-spans.ts";

/** For actions that name no timeout of their own. */
const defaultTimeoutMs = 60 * 60_000;

interface GrpcSettings {
  readonly limits: RequestLimits;
  readonly readiness: Pick<ReadinessProbe, "read" | "watch">;
  readonly config: Pick<ServerConfig, "assetHosts" | "mostCacheEntryBytes">;
}

/** Returns all gRPC methods of the server, each guarded by its right and by the limits for its caller. */
export function grpcMethods(
  services: Services,
  logs: ChangeFeed,
  logger: Logger,
  { limits, readiness, config }: GrpcSettings,
): Method[] {
  const { stores, blobsOf, treesOf, queue, operations, notes, db, resolveImage } = services;
  const callers = grpcCallers(services.callers, addressOf);
  const requireMayWrite = async (project: string, context: CallContext) =>
    requireMayWriteBlobs(await callers.of(context), project);
  const storeFor = storesOfCallers(services, callers);
  const blobsFor: BlobsFor = (project, context) =>
    guardedReads(storeFor(project, context).blobs, {
      toRead: async () => requireMayReadBlobs(await callers.of(context), project),
      toFind: async () => requireMayFindBlobs(await callers.of(context), project),
    });
  const recentOf = (project: string) => stores.of(project, anyMayBegin).recent;
  const lookUpResult = async (where: { project: string; domain: TrustDomain }, action: Digest) =>
    (
      await lookUpActionResult(
        db,
        treesOf(where.project),
        { ...where, actionDigest: action },
        "clients too",
      )
    )?.result ?? services.caches.resultPutFor(where.project, action, where.domain);

  const methods = callers.guard(
    [
      ...capabilitiesService({
        execution: true,
        chunking: true,
        actionCacheUpdates: async ({ instanceName }, context) =>
          mayKeep(await callers.of(context), projectOf(instanceName)),
      }),
      ...casService(
        blobsFor,
        (err) => logger.error({ err }, "a blob could not be served"),
        requireMayWrite,
        services.checkedAtOnce,
      ),
      ...chunkingService({ blobsFor, requireMayWrite, lists: chunkLists(db) }),
      ...byteStreamService(
        blobsFor,
        (project, context) => storeFor(project, context).uploads,
        logStreams({
          requireMayRead: async (project, context) =>
            requireMayReadLogs(await callers.presentOf(context), project),
          read: ({ id, project, stream }, offset, most) =>
            readExecutionLog(services, id, stream, offset, most, project),
          changes: (id) => logs.ticket(id),
        }),
        requireMayWrite,
      ),
      ...actionCacheService({
        blobsFor,
        notes,
        callers,
        requireMayRead: requireMayReadBlobs,
        lookUpResult: async ({ asking: { project }, caller, actionDigest }) => {
          const where = { project, domain: domainOfClient(caller, project) };
          const found = await lookUpResult(where, actionDigest);
          if (found !== undefined || resolveImage === undefined) return found;
          const pinned = await pinnedDigest(actionDigest, recentOf(project), resolveImage, where);
          return pinned && lookUpResult(where, pinned);
        },
        keepResult: ({ asking: { project }, caller, actionDigest }, result) => {
          const domain = domainOfClient(caller, project);
          const principal = caller.name;
          const kept = { project, domain, actionDigest, result, principal };
          return keepClientResult(db, treesOf(project), kept);
        },
      }),
      ...executionService({
        operations,
        notes,
        blobsOf: recentOf,
        callers,
        lookUpResult,
        resolveImage,
        platformAliases: services.platformAliases,
        defaultTimeoutMs,
      }),
      ...operationsService({ operations, blobsOf, callers }),
      ...granaryMethods(services, callers, logger),
      ...buildEventMethods(services, callers, blobsFor, logger),
      ...assetMethods(services, callers, config),
      ...workersService({
        queue,
        gate: workerGate({
          callerOf: (context) => callers.of(context),
          standingOf: (process) => standingOfWorker(db, process),
          holdersOf: (ids) => holdersOf(db, ids),
          offended: noteWorkerOffence(services, logger),
        }),
        blobsOf: recentOf,
        secrets: {
          open: (references, domain) => services.secrets.valuesOf(references, domain),
          inClear: services.secretsInClear,
          loginOf: (puller) => services.registryLogins.of(puller),
        },
        tokens: services.jobTokens,
        pulled: (ms) => services.imagePulls.pulled(ms),
        spans: services.tracing && executionSpans(db, services.tracing, logger),
      }),
      ...reflectionServices(),
    ],
    methodRights,
  );
  return [
    ...limitedMethods(methods, callers, limits),
    ...methodsWithoutDatabase(healthService(readiness), callers, limits),
  ];
}

/**
 * Returns the store of a project for one caller. Writing may need the right to create the project, and counts against
 * the caller's quota.
 */
function storesOfCallers(
  { stores, writeQuota, projectShare }: Services,
  callers: GrpcCallers,
): (project: string, context: CallContext) => ReturnType<typeof guardedWrites> {
  return (project, context) =>
    guardedWrites(
      stores.of(project, async () => requireMayBegin(await callers.of(context), project)),
      async (bytes) => {
        const caller = await callers.of(context);
        await projectShare.begin(caller, project);
        return writeQuota.take(caller.name, project, bytes);
      },
    );
}

function granaryMethods(services: Services, callers: GrpcCallers, logger: Logger): Method[] {
  const { db, blobsOf, treesOf, caches, clock } = services;
  const knows = knowsCommit(services);
  const sentLately = openSentLately();
  return granariesService({
    callers,
    clock,
    granariesOf: granariesOfDomains((domain) =>
      openGranaries({
        db,
        blobsOf,
        treesOf,
        domain,
        logger,
        caches,
        clock,
        knowsCommit: knows,
        sentLately,
      }),
    ),
  });
}

function assetMethods(
  { caches, blobsOf, clock, privateHosts, projectShare, writeQuota }: Services,
  callers: GrpcCallers,
  { assetHosts, mostCacheEntryBytes }: GrpcSettings["config"],
): Method[] {
  const nowMs = () => clock.now().getTime();
  const store = assetStore(caches, blobsOf, nowMs);
  const fetcher = assetFetcher({
    rules: { fetch: guardedFetch(privateHosts), hosts: assetHosts },
    store,
    caches,
    async admit(caller, project, bytes) {
      await projectShare.begin(caller, project);
      await writeQuota.take(caller.name, project, bytes);
    },
    mostBytes: mostCacheEntryBytes,
    nowMs,
  });
  return assetServices({ callers, store, fetcher, nowMs });
}

function buildEventMethods(
  { db, clock, notes }: Services,
  callers: GrpcCallers,
  blobsFor: BlobsFor,
  logger: Logger,
): Method[] {
  return buildEventService({
    db,
    clock,
    logger,
    heard({ project, principal, invocation, buildId: correlatedId }, peer) {
      const unnamed = { toolName: "", toolVersion: "", targetId: "", actionMnemonic: "" };
      const asking = { project, principal, invocation, correlatedId, configurationId: "" };
      notes.heard({ ...unnamed, ...asking }, peer);
    },
    keepBlob: (context, project, { digest, bytes }) =>
      blobsFor(project, context).put(digest, bytes),
    async reporterOf(context, projectId) {
      const project = projectOf(projectId);
      const principal = await callers.of(context);
      requireGrant(principal, "report", { repository: project, branch: "" });
      return { project, principal: principal.name };
    },
  });
}
