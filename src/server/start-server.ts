import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { cachePrincipalOf } from "#access/job-tokens/run-of-token.ts";
import { cacheHandler } from "#caches/http/cache-handler.ts";
import { signatureKeyName } from "#caches/http/verify-signature.ts";
import type { Service } from "#core/service.ts";
import { newestKnownMigration } from "#db/migrate.ts";
import { executionChannel, logChannel } from "#execution/notify.store.ts";
import { untilLost } from "#machine/holder-lock.ts";
import { noteSecretFiles } from "#machine/secret-files.ts";
import { benchmarkChannel } from "#perf/channels.ts";
import type { Tracing } from "#tracing/tracing.ts";
import { addressToGive } from "./address-to-give.ts";
import { bindFarm } from "./bind-farm.ts";
import { certificateFiles, openCertificate } from "./certificate.ts";
import { changeFeed } from "./change-feed.ts";
import { type ServerConfig, secretFilesIn } from "./config.ts";
import { openDataDirectory } from "./data-directory.ts";
import { startForge } from "./forge/start-forge.ts";
import { grpcMethods } from "./grpc-methods.ts";
import { allHandlers } from "./handlers/all-handlers.ts";
import { objectFinders } from "./handlers/object-finders.ts";
import { readinessProbe } from "./health/readiness.ts";
import { httpApp } from "./http/http-app.ts";
import { initialiseAccess } from "./initialise-access.ts";
import { listen } from "./listen.ts";
import { openServices } from "./open-services.ts";
import { limitWrongTokens } from "./request-limits/limit-wrong-tokens.ts";
import { openRequestLimits, type RequestLimits } from "./request-limits/request-limits.ts";
import { requesterAddress } from "./request-limits/requester-address.ts";
import type { Services } from "./services.ts";
import { stopAll } from "./stop-all.ts";
import { watchSchema } from "./watch-schema.ts";

export interface RunningServer extends Service {
  /** The one address for pages, API and gRPC. */
  readonly url: string;
  /** For programs that embed the server. */
  readonly services: Services;
  /** Resolves with the reason when the server must stop. */
  readonly failed: Promise<string>;
}

/** A build tool that sends nothing for this time in the middle of an upload counts as disconnected. */
const cacheIdleMs = 60_000;

/** Starts a server: it answers when this resolves, and all resources are released when this throws. */
export async function startServer(
  config: ServerConfig,
  logger: Logger,
  tracing?: Tracing,
): Promise<RunningServer> {
  const opened: Service[] = [];
  const keep = <S extends Service>(service: S): S => {
    opened.push(service);
    return service;
  };
  const stop = () => stopAll(opened.splice(0).toReversed());

  try {
    const files = certificateFiles(config);
    const certificate = files && keep(await openCertificate(files, logger));
    const directory = await openDataDirectory(
      config.dataDir,
      ({ where }, ms) =>
        logger.warn(
          { dataDir: config.dataDir },
          `a server (${where}) used this data directory last; waiting for ${ms / 1_000} s to see whether it still runs`,
        ),
      config.blobs,
    );
    keep({ stop: () => directory.release() });
    const lost = untilLost(directory.lost, `the data directory ${directory.path}`);
    await noteSecretFiles(directory.path, secretFilesIn(config));
    const limits = openRequestLimits(config.requestLimits);
    const unlimited = keep(await openServices(config, directory, logger, tracing));
    const services = { ...unlimited, callers: limitWrongTokens(unlimited.callers, limits) };
    await initialiseAccess(services, config, logger);
    const feeds = {
      graphs: keep(await changeFeed(services.db, "grange_graph")),
      // A log ends with its execution, which the log's own channel does not report.
      logs: keep(await changeFeed(services.db, logChannel, executionChannel)),
      executions: keep(await changeFeed(services.db, executionChannel)),
      benchmarks: keep(await changeFeed(services.db, benchmarkChannel)),
    };
    const knownMigration = await newestKnownMigration();
    const { outgrown } = keep(await watchSchema(services.db, knownMigration));
    const readiness = readinessProbe({
      db: services.db,
      clock: services.clock,
      blobs: directory.blobs,
      replicas: services.replicas,
      askStore: services.askStore,
      leaseMs: services.queue.times.leaseMs,
      knownMigration,
    });
    const urlOf = (port: number) => addressToGive(config.host, port, certificate);
    const listening = keep(
      await listen({
        host: config.host,
        port: config.port,
        graceMs: config.graceMs,
        messageMemory: config.messageMemory,
        logger,
        identity: certificate && (() => certificate.identity()),
        methods: grpcMethods(services, feeds.logs, logger, { limits, readiness, config }),
        onClosed: (peer) => services.notes.closed(peer),
        tracing,
        caches: cachesOf(services, config, logger, limits),
        app: (port) =>
          httpApp({
            farm: bindFarm(services, urlOf(port)),
            handlers: allHandlers({ ...services, feeds, url: urlOf(port) }),
            identity: {
              issuer: (config.publicUrl?.href ?? urlOf(port)).replace(/\/+$/, ""),
              identityKeys: services.identityKeys,
              clock: services.clock,
              runOf: (authorization) => services.jobTokens.runOf(authorization),
            },
            finders: objectFinders(services.db),
            reading: {
              primary: services.db,
              replicas: services.replicas,
              reads: services.replicaReads,
            },
            readiness,
            logger,
            webDir: config.webDir,
            host: config.host,
            isTls: certificate !== undefined,
            limits,
          }),
      }),
    );
    const url = urlOf(listening.port);
    keep(await startForge(services, config, url));
    logger.info({ url, database: services.databaseDescription }, "the farm answers");
    const drainAndStop = async () => {
      readiness.drain();
      await delay(config.drainMs);
      readiness.close();
      await stop();
    };
    return { url, services, failed: Promise.race([lost, outgrown]), stop: drainAndStop };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

/** Returns the handler of the HTTP caches of build tools. */
function cachesOf(services: Services, config: ServerConfig, logger: Logger, limits: RequestLimits) {
  return cacheHandler({
    caches: services.caches,
    identify: async (authorization, issuedTo, request) => {
      const run = await services.jobTokens.runOf(authorization);
      return run === undefined
        ? services.callers.identify(authorization, issuedTo, addressOf(request))
        : cachePrincipalOf(run);
    },
    host: config.host,
    mostEntryBytes: config.mostCacheEntryBytes,
    beginWrite: ({ name }, request) =>
      limits.begin("uploads", { principal: name, address: addressOf(request) }),
    admit: async (principal, project, bytes) => {
      // The project of a run is its repository, which exists.
      if (principal.domain === undefined) {
        await services.projectShare.begin(principal, project);
      }
      await services.writeQuota.take(principal.name, project, bytes);
    },
    signatureKeys: (project) => services.secrets.valuesFor(signatureKeyName, project),
    idleMs: cacheIdleMs,
    logger,
  });
}

/** Returns the address by which a request counts. */
function addressOf({ socket, headers }: IncomingMessage): string {
  return requesterAddress(socket.remoteAddress, headers["x-forwarded-for"]?.toString());
}
