import { join } from "node:path";
import type { Logger } from "pino";
import { openWriteQuota } from "#access/blob-writes/write-quota.ts";
import { openFarmKey } from "#access/farm-key.ts";
import { openProjectShare, usualProjectsEach } from "#access/projects/project-share.ts";
import { projectTrees } from "#actions/project-trees.ts";
import { resultSeals } from "#actions/result-seals.ts";
import { findArtifacts } from "#artifacts/find-artifacts.ts";
import { openCaches } from "#caches/open-caches.ts";
import { anyMayBegin, openProjectBlobs } from "#cas/namespaces/project-blobs.ts";
import { openStoreEviction } from "#cas/namespaces/store-eviction.ts";
import { systemClock } from "#core/clock.ts";
import { defaultProject } from "#core/default-project.ts";
import { digestKey } from "#core/digest.ts";
import type { Service } from "#core/service.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { databaseClock } from "#execution/database-clock.ts";
import { openExecutionQueue } from "#execution/open-execution-queue.ts";
import { findWatched } from "#forge/repository.store.ts";
import { openMirrors } from "#git/fetch-commit.ts";
import { openGit } from "#git/run-git.ts";
import { pinnedBlobs } from "#granaries/pinned-blobs.ts";
import { recordAudit } from "#graphs/audit.store.ts";
import { CatalogCache } from "#graphs/catalogs/catalog-cache.ts";
import { isProtectedBranch } from "#graphs/catalogs/is-protected-branch.ts";
import { CommitInputReader } from "#graphs/commit-inputs.ts";
import { TemplateEvaluator } from "#graphs/definitions/template-evaluator.ts";
import { startGraphRunner } from "#graphs/graph-runner.ts";
import { serveServerJobs } from "#graphs/kinds/serve-server-jobs.ts";
import { Webhooks } from "#graphs/kinds/webhooks.ts";
import { startSearchLoop } from "#graphs/ranges/search-loop.ts";
import { repositoryAccess } from "#graphs/repository-access.ts";
import { askingNotes } from "#invocations/asking-notes.ts";
import { usualUnservedMs } from "#invocations/end-unserved.ts";
import { operationService } from "#invocations/operation-service.ts";
import { labTimes, labTimesFor } from "#perf/lab-times.ts";
import { reportHooks } from "#perf/reports/make-report.ts";
import { unservedAnnouncer } from "#perf/requests/announce-unserved.ts";
import { startBenchmarkCron } from "#perf/requests/cron.ts";
import { type AskSource, sourceService } from "#perf/requests/source-service.ts";
import { advanceSearches } from "#perf/searches/advance-searches.ts";
import { askForFigure } from "#perf/searches/ask-for-figure.ts";
import { secretService } from "#secrets/secret-service.ts";
import { openSecretsKey } from "#secrets/secrets-key.ts";
import { sizeClassAnalyzer } from "#size-classes/analyzer.ts";
import { learning } from "#size-classes/learning.ts";
import { offeredClasses } from "#size-classes/offered-classes.ts";
import { settingsView } from "#size-classes/settings-view.ts";
import { sendToAlarmWebhook } from "./alarm-webhook.ts";
import type { ServerConfig } from "./config.ts";
import type { DataDirectory } from "./data-directory.ts";
import { openForges } from "./forge/open-forges.ts";
import { wayIn } from "./forge/way-in.ts";
import { openedWays, sealOpenWays } from "./forge/ways.ts";
import { labTasks } from "./lab-tasks.ts";
import { openDatabase } from "./open-database.ts";
import { startPeriodicTasks } from "./periodic-tasks.ts";
import { privateHostsNow } from "./private-hosts.ts";
import { queueHooks } from "./queue-hooks.ts";
import { queueTasks } from "./queue-tasks.ts";
import { startEviction } from "./retention/start-eviction.ts";
import { retentionTasks } from "./retention-tasks.ts";
import type { Services } from "./services.ts";
import { openSignIn, type SignInConfig } from "./sign-in/open-sign-in.ts";
import { signOldResults } from "./sign-old-results.ts";
import { stopAll } from "./stop-all.ts";
import { watchForIdleness } from "./watch-for-idleness.ts";

/** Until graphs have projects of their own, all that a farm does by itself belongs to one. */
const project = defaultProject;

/**
 * Presence is remembered for the seconds in which a build asks again: far less than an unused blob lives, and as long
 * as a file that somebody removed behind the farm is claimed to be here.
 */
const existence = { ttlMs: 10_000, limit: 200_000 };

/** Builds and stacks everything, bottom up. What was opened is closed again when something further up fails. */
export async function openServices(
  config: Pick<
    ServerConfig,
    "databaseUrl" | "dataDir" | "pricePerWorkerMinute" | "webhooks" | "scaling"
  > &
    Partial<
      Pick<
        ServerConfig,
        | "storeLimitBytes"
        | "mostProjects"
        | "writeQuotaBytes"
        | "projectsEach"
        | "benchmarkPeriodMs"
        | "benchmarkLeaseMs"
        | "alarmWebhook"
        | "farmKey"
        | "secretsKey"
        | "secretsInClear"
        | "githubApp"
        | "host"
        | "privateHosts"
        | "localRepositories"
        | "unservedMs"
      >
    > &
    SignInConfig,
  directory: DataDirectory,
  logger: Logger,
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
    const clock = keep(await databaseClock(db, systemClock));
    const idle = keep(await watchForIdleness(db, clock, logger));
    const secretsKey = await openSecretsKey(directory.path, config.secretsKey);
    const secrets = secretService({
      db,
      clock,
      key: secretsKey,
      audit: (tx, actor, detail) => recordAudit(tx, { actor, verb: "secret", detail }),
    });

    const stores = await openProjectBlobs({
      directory: directory.blobs,
      clock: systemClock,
      existence,
      ...(config.mostProjects === undefined ? {} : { mostNamespaces: config.mostProjects }),
      isCorrupt: (of, digest) =>
        logger.error({ project: of, blob: digestKey(digest) }, "a blob is corrupt; it was removed"),
    });
    const writeQuota = keep(
      openWriteQuota({ db, clock, logger, bytesPerDay: config.writeQuotaBytes }),
    );
    const projectShare = openProjectShare({
      db,
      clock,
      isThere: (name) => stores.has(name),
      mostEach: config.projectsEach ?? usualProjectsEach,
    });
    const storeOf = (name: string) => stores.of(name, anyMayBegin);
    const blobsOf = (name: string) => storeOf(name).blobs;
    const { blobs, certain } = storeOf(project);

    const seals = resultSeals(farmKey, ({ project, action, origin }) =>
      logger.error(
        { project, action, origin },
        "a result in the database is not as the farm signed it; nobody is given it",
      ),
    );
    await signOldResults(db, { ...seals, keyId: farmKey.id }, farmKey, clock, logger);
    const treesOf = projectTrees(blobsOf, seals);
    const trees = treesOf(project);
    const caches = keep(openCaches({ db, storeOf, treesOf, clock, logger }));
    const eviction = keep(
      startEviction({
        db,
        blobsOf,
        treesOf,
        disk: await openStoreEviction(directory.blobs),
        directory: directory.blobs,
        limitBytes: config.storeLimitBytes,
        pinned: () =>
          pinnedBlobs({
            db,
            blobsOf,
            treesOf,
            clock,
            logger,
            domain: protectedDomain,
            isProtected: (repository, branch) => isProtectedBranch(db, repository, branch),
          }),
        clock,
        logger,
      }),
    );
    const { startDelayMs } = config.scaling;
    const offers = keep(offeredClasses({ db, clock, logger, startDelayMs }));
    const settings = keep(await settingsView(db, logger));
    const observations = keep(learning({ db, logger, offers, idle }));
    const privateHosts = privateHostsNow(db, config);
    const git = keep(await openGit(join(directory.path, "git"), privateHosts));
    const mirrors = openMirrors({
      git,
      directory: directory.mirrors,
      workingDirectory: process.cwd(),
    });
    const inputs = new CommitInputReader({ git, mirrors, db, store: certain });
    const queue = keep(
      await openExecutionQueue({
        db,
        clock,
        logger,
        idle,
        hooks: queueHooks(
          treesOf,
          () => observations.soon(),
          () => inputs.doubt(),
        ),
        analyzer: sizeClassAnalyzer({
          db,
          clock,
          logger,
          offers,
          settings: () => settings.current(),
        }),
      }),
    );
    const operations = keep(await operationService({ db, queue, clock, logger }));
    const notes = keep(askingNotes({ db, clock, logger }));
    const ways = openedWays(db, secretsKey);
    await sealOpenWays(db, ways);
    const forges = keep(await openForges(config.githubApp, { git, logger, ways }));
    const access = repositoryAccess({
      db,
      workingDirectory: process.cwd(),
      sharedDirectories: config.localRepositories ?? [],
      farmDirectories: [directory.mirrors, directory.blobs],
    });
    const isWatched = async (name: string) => (await findWatched(db, name))?.name === name;
    const evaluator = keep(new TemplateEvaluator());
    keep(
      await startGraphRunner({
        db,
        store: certain,
        trees,
        inputs,
        project,
        clock,
        logger,
        idle,
        transaction: (work) => queue.transaction(work),
        chooseSizes: (requests) => queue.chooseSizes(requests),
        secrets: (names, place) => secrets.referTo(names, place),
        hint: (hint) => queue.hintAhead(hint),
      }),
    );
    const webhooks = new Webhooks(config.webhooks);
    const cache = new CatalogCache();
    keep(
      await serveServerJobs({
        db,
        store: blobs,
        trees,
        inputs,
        mirrors,
        access,
        evaluator,
        cache,
        project,
        webhooks,
        queue,
        clock,
        logger,
        idle,
        transaction: (work) => queue.transaction(work),
        chooseSizes: (requests) => queue.chooseSizes(requests),
      }),
    );
    const times = labTimesFor(config.benchmarkLeaseMs ?? labTimes.leaseMs);
    keep(
      startPeriodicTasks(
        [
          ...queueTasks({
            db,
            queue,
            operations,
            clock,
            unservedMs: config.unservedMs ?? usualUnservedMs,
            definitions: { db, access, git, mirrors, evaluator, cache },
          }),
          ...labTasks({
            db,
            clock,
            logger,
            labTimes: times,
            sendAlarm: config.alarmWebhook && sendToAlarmWebhook(config.alarmWebhook),
          }),
          ...retentionTasks({ db, clock, uploads: stores }),
        ],
        { logger, idle },
      ),
    );
    const { pricePerWorkerMinute } = config;
    keep(
      await startSearchLoop({
        db,
        queue,
        git,
        mirrors,
        access,
        isWatched,
        inputs,
        evaluator,
        cache,
        trees,
        project,
        pricePerWorkerMinute,
        logger,
        idle,
      }),
    );
    const ending = new AbortController();
    const ask: AskSource = async (suite, options) =>
      findArtifacts(suite, { ...options, privateHosts: await privateHosts() });
    const sources = sourceService({ db, clock, ask, signal: ending.signal });
    keep(
      await startBenchmarkCron({
        db,
        clock,
        logger,
        idle,
        hooks: reportHooks,
        sources,
        everyMs: config.benchmarkPeriodMs,
        alsoThen: {
          "advance searches": () =>
            advanceSearches(
              db,
              clock.now(),
              askForFigure(() => clock.now()),
            ),
          "announce unserved jobs": unservedAnnouncer({ db, clock, times: labTimes, logger }),
        },
      }),
    );
    keep({ stop: async () => ending.abort() });

    return {
      db,
      databaseDescription: database.description,
      databaseOpenedInMs: database.openedInMs,
      clock,
      idle,
      ...(await openSignIn({ db, clock, logger }, config)),
      logger,
      farmKey,
      secrets,
      secretsInClear: config.secretsInClear ?? false,
      stores,
      writeQuota,
      projectShare,
      blobsOf,
      treesOf,
      blobs,
      eviction,
      trees,
      caches,
      queue,
      operations,
      notes,
      git,
      mirrors,
      access,
      isWatched,
      wayIn: (address, by) => wayIn({ db, forges: forges.forges }, address, by),
      inputs,
      evaluator,
      cache,
      sources,
      forges,
      dataDir: directory.path,
      labTimes: times,
      project,
      pricePerWorkerMinute,
      scaling: config.scaling,
      stop,
    };
  } catch (cause) {
    await stop();
    throw cause;
  }
}
