import { join } from "node:path";
import type { Logger } from "pino";
import { type CallerRegistry, callerRegistry } from "#access/caller-registry.ts";
import { type OutputTrees, outputTrees } from "#actions/output-trees.ts";
import { findArtifacts } from "#artifacts/find-artifacts.ts";
import type { Caches } from "#caches/caches.ts";
import { openCaches } from "#caches/open-caches.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { openDiskBlobStore } from "#cas/disk-blob-store.ts";
import { openDiskEviction } from "#cas/disk-eviction.ts";
import { openDiskUploads } from "#cas/disk-uploads.ts";
import { cachingExistence } from "#cas/existence-caching-blob-store.ts";
import { recentBlobs } from "#cas/recent-blobs.ts";
import type { Uploads } from "#cas/uploads.ts";
import { verifying } from "#cas/verifying-blob-store.ts";
import { type Clock, systemClock } from "#core/clock.ts";
import { digestKey } from "#core/digest.ts";
import type { Service } from "#core/service.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { databaseClock } from "#execution/database-clock.ts";
import { type ExecutionQueue, openExecutionQueue } from "#execution/execution-queue.ts";
import { type Mirrors, openMirrors } from "#git/fetch-commit.ts";
import { type Git, openGit } from "#git/run-git.ts";
import { pinnedBlobs } from "#granaries/pinned-blobs.ts";
import { CatalogShelf } from "#graphs/catalogs/catalog-shelf.ts";
import { isProtectedBranch } from "#graphs/catalogs/is-protected-branch.ts";
import { CommitInputReader } from "#graphs/commit-inputs.ts";
import { TemplateEvaluator } from "#graphs/definitions/template-evaluator.ts";
import { startGraphRunner } from "#graphs/graph-runner.ts";
import { serveErrands } from "#graphs/kinds/serve-errands.ts";
import { Webhooks } from "#graphs/kinds/webhooks.ts";
import { startSearchLoop } from "#graphs/ranges/search-loop.ts";
import { type AskingNotes, askingNotes } from "#invocations/asking-notes.ts";
import { type OperationDesk, operationDesk } from "#invocations/operation-desk.ts";
import { type LabTimes, labTimes, labTimesFor } from "#perf/lab-times.ts";
import { reportHooks } from "#perf/reports/make-report.ts";
import { startBenchmarkCron } from "#perf/requests/cron.ts";
import { type SourceDesk, sourceDesk } from "#perf/requests/source-desk.ts";
import { advanceSearches } from "#perf/searches/advance-searches.ts";
import { askForFigure } from "#perf/searches/ask-for-figure.ts";
import { sizeClassAnalyzer } from "#size-classes/analyzer.ts";
import { learning } from "#size-classes/learning.ts";
import { offeredClasses } from "#size-classes/offered-classes.ts";
import { settingsView } from "#size-classes/settings-view.ts";
import type { ServerConfig } from "./config.ts";
import type { DataDirectory } from "./data-directory.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { openDatabase } from "./open-database.ts";
import { queueHooks } from "./queue-hooks.ts";
import { type Eviction, startEviction } from "./retention/start-eviction.ts";
import { stopAll } from "./stop-all.ts";

/** The rooms of a running server, furnished. */
export interface Rooms extends Service {
  readonly db: Db;
  readonly databaseDescription: string;
  readonly clock: Clock;
  readonly callers: CallerRegistry;
  readonly blobs: BlobStore;
  /** The same, for those who read what came a moment ago. */
  readonly recentBlobs: BlobStore;
  /** Keeps them under the limit. */
  readonly eviction: Eviction;
  /** Uploads into it that may be gone on with. */
  readonly uploads: Uploads;
  readonly trees: OutputTrees;
  readonly caches: Caches;
  readonly queue: ExecutionQueue;
  readonly operations: OperationDesk;
  /** Who asks for what, for pages. */
  readonly notes: AskingNotes;
  readonly git: Git;
  readonly mirrors: Mirrors;
  readonly inputs: CommitInputReader;
  readonly evaluator: TemplateEvaluator;
  readonly shelf: CatalogShelf;
  /** Where artifacts of benchmark suites come from. */
  readonly sources: SourceDesk;
  /** How long things last between the benchmark lab and its collectors. */
  readonly labTimes: LabTimes;
  readonly project: string;
  /** Per minute that a worker is busy; 0 where nobody counts. */
  readonly pricePerWorkerMinute: number;
  /** What autoscalers are to reach. */
  readonly scaling: ServerConfig["scaling"];
}

/** Until projects are told apart, all that a farm does belongs to one. */
const project = "default";

/** Presence is remembered for a minute: far less than an unused blob lives. */
const existence = { ttlMs: 60_000, limit: 200_000 };

/** Builds and stacks everything, bottom up. What was opened is closed again when something further up fails. */
export async function openRooms(
  config: Pick<
    ServerConfig,
    "databaseUrl" | "dataDir" | "pricePerWorkerMinute" | "webhooks" | "scaling"
  > &
    Partial<Pick<ServerConfig, "storeLimitBytes" | "benchmarkPeriodMs" | "benchmarkLeaseMs">>,
  directory: DataDirectory,
  logger: Logger,
): Promise<Rooms> {
  const opened: Service[] = [];
  const keep = <S extends Service>(service: S): S => {
    opened.push(service);
    return service;
  };
  const stop = () => stopAll(opened.toReversed());

  try {
    const database = keep(await openDatabase(config, logger));
    const { db } = database;
    const clock = keep(await databaseClock(db, systemClock));

    const disk = await openDiskBlobStore(directory.blobs);
    const uploads = await openDiskUploads(directory.blobs, disk);
    const checked = cachingExistence(
      verifying(disk, async (digest) => {
        logger.error({ blob: digestKey(digest) }, "a blob is corrupt; it was removed");
        await disk.remove(digest);
      }),
      systemClock,
      existence,
    );
    const { store: blobs, recent } = recentBlobs(checked);

    const trees = outputTrees(blobs);
    const caches = keep(openCaches({ db, blobs, disk, trees, clock, logger }));
    const eviction = keep(
      startEviction({
        db,
        blobs: checked,
        trees,
        disk: await openDiskEviction(directory.blobs),
        directory: directory.blobs,
        limitBytes: config.storeLimitBytes,
        pinned: () =>
          pinnedBlobs({
            db,
            blobs: checked,
            trees,
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
    const lessons = keep(learning({ db, logger, offers }));
    const queue = keep(
      await openExecutionQueue({
        db,
        clock,
        logger,
        hooks: queueHooks(trees, () => lessons.soon()),
        analyzer: sizeClassAnalyzer({
          db,
          clock,
          logger,
          offers,
          settings: () => settings.current(),
        }),
      }),
    );
    const operations = keep(await operationDesk({ db, queue, clock, logger }));
    const notes = keep(askingNotes({ db, clock, logger }));
    const git = keep(await openGit(join(directory.path, "git")));
    const mirrors = openMirrors({
      git,
      directory: directory.mirrors,
      workingDirectory: process.cwd(),
    });
    const inputs = new CommitInputReader({ git, mirrors, db, store: blobs });
    const evaluator = keep(new TemplateEvaluator());
    keep(
      await startGraphRunner({
        db,
        store: blobs,
        trees,
        inputs,
        project,
        clock,
        logger,
        transaction: (work) => queue.transaction(work),
        chooseSizes: (requests) => queue.chooseSizes(requests),
        hint: (hint) => queue.hintAhead(hint),
      }),
    );
    const webhooks = new Webhooks(config.webhooks);
    keep(
      await serveErrands({
        db,
        store: blobs,
        trees,
        inputs,
        mirrors,
        evaluator,
        project,
        webhooks,
        queue,
        clock,
        logger,
        transaction: (work) => queue.transaction(work),
        chooseSizes: (requests) => queue.chooseSizes(requests),
      }),
    );
    const times = labTimesFor(config.benchmarkLeaseMs ?? labTimes.leaseMs);
    keep(startHousekeeping({ db, queue, operations, uploads, clock, logger, labTimes: times }));
    const shelf = new CatalogShelf();
    const { pricePerWorkerMinute } = config;
    keep(
      await startSearchLoop({
        db,
        queue,
        git,
        mirrors,
        inputs,
        evaluator,
        shelf,
        trees,
        project,
        pricePerWorkerMinute,
        logger,
      }),
    );
    const ending = new AbortController();
    const sources = sourceDesk({ db, clock, ask: findArtifacts, signal: ending.signal });
    keep(
      await startBenchmarkCron({
        db,
        clock,
        logger,
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
        },
      }),
    );
    keep({ stop: async () => ending.abort() });

    return {
      db,
      databaseDescription: database.description,
      clock,
      callers: callerRegistry(db, clock),
      blobs,
      recentBlobs: recent,
      eviction,
      uploads,
      trees,
      caches,
      queue,
      operations,
      notes,
      git,
      mirrors,
      inputs,
      evaluator,
      shelf,
      sources,
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
