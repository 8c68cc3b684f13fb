import type { Logger } from "pino";
import { recordAudit } from "#access/audit.store.ts";
import { openFarmKey } from "#access/farm-key.ts";
import { openIdentityKeys } from "#access/identity/identity-keys.ts";
import { secretService } from "#access/secrets/secret-service.ts";
import { openSecretsKey } from "#access/secrets/secrets-key.ts";
import { systemClock } from "#core/clock.ts";
import { defaultProject } from "#core/default-project.ts";
import { parsePlatformAliases } from "#core/platform-aliases.ts";
import type { Service } from "#core/service.ts";
import { forMaintenance } from "#db/for-maintenance.ts";
import { databaseClock } from "#execution/database-clock.ts";
import { openForgeReaders } from "#forge/readers/forge-readers.ts";
import { defaultUnservedMs } from "#invocations/end-unserved.ts";
import { labTimes, labTimesFor } from "#perf/lab-times.ts";
import { desiredWorkersService } from "#size-classes/desired-workers-service.ts";
import type { Tracing } from "#tracing/tracing.ts";
import { sendToAlarmWebhook } from "./alarm-webhook.ts";
import type { ServerConfig } from "./config.ts";
import type { DataDirectory } from "./data-directory.ts";
import { addressWithCredential } from "./forge/address-with-credential.ts";
import { imagePulls } from "./image-pulls.ts";
import { imageResolver } from "./image-resolver.ts";
import { openJobTokens } from "./job-tokens.ts";
import { labTasks } from "./lab-tasks.ts";
import { openDatabase } from "./open-database.ts";
import { openQueue } from "./open-queue.ts";
import { openReadReplicas } from "./open-read-replicas.ts";
import { openRepositories } from "./open-repositories.ts";
import { openStores } from "./open-stores.ts";
import { startPeriodicTasks } from "./periodic-tasks.ts";
import { projectsOfJobs } from "./projects-of-jobs.ts";
import { queueTasks } from "./queue-tasks.ts";
import { registryLogins } from "./registry-logins.ts";
import { retentionTasks } from "./retention-tasks.ts";
import type { Services } from "./services.ts";
import { openSignIn, type SignInConfig } from "./sign-in/open-sign-in.ts";
import { startGraphServices } from "./start-graph-services.ts";
import { startLabServices } from "./start-lab-services.ts";
import { stopAll } from "./stop-all.ts";
import { watchForIdleness } from "./watch-for-idleness.ts";

/** The project of the benchmark lab, and of graphs unless their repository has another one. */
const project = defaultProject;

/** Opens all services in the order of their dependencies. When one fails to open, the earlier ones are closed again. */
export async function openServices(
  config: Pick<
    ServerConfig,
    "databaseUrl" | "dataDir" | "pricePerWorkerMinute" | "webhooks" | "scaling"
  > &
    Partial<
      Pick<
        ServerConfig,
        | "databaseReadUrl"
        | "blobs"
        | "bucket"
        | "adoptStore"
        | "durableBlobs"
        | "preparesJobs"
        | "storeLimitBytes"
        | "scrubBytesPerSecond"
        | "mostProjects"
        | "writeQuotaBytes"
        | "projectsEach"
        | "benchmarkPeriodMs"
        | "benchmarkLeaseMs"
        | "alarmWebhook"
        | "farmKey"
        | "secretsKey"
        | "secretsInClear"
        | "forges"
        | "host"
        | "privateHosts"
        | "platformAliases"
        | "registries"
        | "registryAuth"
        | "localRepositories"
        | "unservedMs"
      >
    > &
    SignInConfig,
  directory: DataDirectory,
  logger: Logger,
  tracing?: Tracing,
): Promise<Services> {
  const opened: Service[] = [];
  const keep = <S extends Service>(service: S): S => {
    opened.push(service);
    return service;
  };
  const stop = () => stopAll(opened.toReversed());

  try {
    const farmKey = await openFarmKey(directory.path, config.farmKey);
    const database = keep(await openDatabase(config, logger));
    const { db } = database;
    const replicas = keep(openReadReplicas(config, db, logger));
    const clock = keep(await databaseClock(db, systemClock));
    const idle = keep(await watchForIdleness(db, clock, logger));
    const secretsKey = await openSecretsKey(directory.path, config.secretsKey);
    const secrets = secretService({
      db,
      clock,
      key: secretsKey,
      audit: (tx, actor, detail) => recordAudit(tx, { actor, verb: "secret", detail }),
    });

    const stored = await openStores(config, {
      directory,
      db,
      clock,
      logger,
      farmKey,
      project,
      keep,
    });
    const { stores, storeOf, blobs, certain, trees, treesOf } = stored;
    const repositories = await openRepositories(config, {
      directory,
      db,
      logger,
      store: certain,
      secretsKey,
      keep,
    });
    const { git, mirrors, inputs, access, forges, isWatched, privateHosts } = repositories;
    const inProject = projectsOfJobs({ storeOf, treesOf, inputs });
    const { scaling, pricePerWorkerMinute } = config;
    const logins = registryLogins(secrets, secretsKey.id);
    const resolveImage = imageResolver(config, privateHosts, logins);
    const platformAliases = parsePlatformAliases(config.platformAliases ?? "");
    const queued = await openQueue({
      db,
      clock,
      logger,
      idle,
      treesOf,
      inputs,
      scaling,
      cacheUse: stored.cacheUse,
      tracing,
      keep,
    });
    const { queue, operations } = queued;
    const preparesJobs = config.preparesJobs ?? true;
    if (!preparesJobs)
      logger.warn(
        "this server prepares no jobs (GRANGE_PREPARE_JOBS=0): at least one other server of the farm must do it",
      );
    const { evaluator, cache } = await startGraphServices({
      db,
      clock,
      logger,
      idle,
      storesOf: storeOf,
      inProject,
      inputs,
      queue,
      secrets,
      resolveImage,
      git,
      mirrors,
      access,
      isWatched,
      pricePerWorkerMinute,
      webhooks: config.webhooks,
      preparesJobs,
      tracing,
      keep,
    });
    const times = labTimesFor(config.benchmarkLeaseMs ?? labTimes.leaseMs);
    keep(
      startPeriodicTasks(
        [
          ...queueTasks({
            db,
            queue,
            operations,
            clock,
            unservedMs: config.unservedMs ?? defaultUnservedMs,
            definitions: { db, access, git, mirrors, evaluator, cache },
          }),
          ...labTasks({
            db,
            clock,
            logger,
            labTimes: times,
            sendAlarm: config.alarmWebhook && sendToAlarmWebhook(config.alarmWebhook),
          }),
          ...retentionTasks({ db: forMaintenance(db), clock, logger, uploads: stores }),
        ],
        { logger, idle },
      ),
    );
    const forgeReaders = keep(openForgeReaders({ db, clock, logger, forges: forges.forges }));
    const everyMs = config.benchmarkPeriodMs;
    const { sources } = await startLabServices({
      db,
      clock,
      logger,
      idle,
      privateHosts,
      makesRequests: preparesJobs,
      everyMs,
      keep,
    });

    return {
      db,
      replicas,
      replicaReads: { replica: 0, primary: 0, repeated: 0 },
      databaseDescription: database.description,
      databaseOpenedInMs: database.openedInMs,
      clock,
      idle,
      ...(await openSignIn({ db, clock, logger, forgeReaders }, config)),
      forgeReaders,
      logger,
      tracing,
      farmKey,
      secrets,
      identityKeys: openIdentityKeys(db, secretsKey),
      jobTokens: keep(openJobTokens({ db, farmKey, blobsOf: stored.blobsOf })),
      secretsInClear: config.secretsInClear ?? false,
      stores,
      writeQuota: stored.writeQuota,
      projectShare: stored.projectShare,
      blobsOf: stored.blobsOf,
      treesOf,
      blobs,
      storeStanding: stored.standing,
      askStore: stored.askStore,
      checkedAtOnce: stored.checkedAtOnce,
      storeCounts: stored.counts,
      trees,
      caches: stored.caches,
      queue,
      operations,
      notes: queued.notes,
      git,
      mirrors,
      access,
      isWatched,
      addressWithCredential: (address, by) =>
        addressWithCredential({ db, forges: forges.forges }, address, by),
      inputs,
      inProject,
      evaluator,
      cache,
      privateHosts,
      platformAliases,
      resolveImage,
      registryLogins: logins,
      imagePulls: imagePulls(),
      sources,
      forges,
      dataDir: directory.path,
      labTimes: times,
      pricePerWorkerMinute,
      desiredWorkers: desiredWorkersService({
        db,
        clock,
        leaseMs: queued.queue.times.leaseMs,
        settings: scaling,
      }),
      stop,
    };
  } catch (cause) {
    await stop();
    throw cause;
  }
}
