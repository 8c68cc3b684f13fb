import type { Logger } from "pino";
import { openWriteQuota } from "#access/blob-writes/write-quota.ts";
import type { FarmKey } from "#access/farm-key.ts";
import { defaultProjectsEach, openProjectShare } from "#access/projects/project-share.ts";
import { projectTrees } from "#actions/project-trees.ts";
import { resultSeals } from "#actions/result-seals.ts";
import { openCacheUse } from "#caches/cache-use.ts";
import { openCaches } from "#caches/open-caches.ts";
import { anyMayBegin, openProjectBlobs } from "#cas/namespaces/project-blobs.ts";
import type { Clock } from "#core/clock.ts";
import { systemClock } from "#core/clock.ts";
import { digestKey } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { forMaintenance } from "#db/for-maintenance.ts";
import { pinnedBlobs } from "#granaries/pinned-blobs.ts";
import { isProtectedBranch } from "#graphs/catalogs/is-protected-branch.ts";
import { claimStore } from "./blob-storage/claim-store.ts";
import { isStoreAlone } from "./blob-storage/judge-store.ts";
import { openStorage } from "./blob-storage/open-storage.ts";
import type { ServerConfig } from "./config.ts";
import type { DataDirectory } from "./data-directory.ts";
import type { Keep } from "./keep-services.ts";
import { startEviction } from "./retention/start-eviction.ts";
import { startScrub } from "./retention/start-scrub.ts";
import { signOldResults } from "./sign-old-results.ts";

/**
 * Existence is cached for the few seconds in which a build repeats its requests. This is far less than the life of an
 * unused blob. A file that was deleted outside of the farm is reported as present for this time.
 */
const existence = { ttlMs: 10_000, limit: 200_000 };

/** Blobs and results by project, the caches in front of them, and the parts that enforce their limits. */
export async function openStores(
  config: StoreConfig,
  parts: {
    readonly directory: DataDirectory;
    readonly db: Db;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly farmKey: FarmKey;
    readonly project: string;
    readonly keep: Keep;
  },
) {
  const { directory, db, clock, logger, farmKey, project, keep } = parts;
  const { blobs: blobsDirectory } = directory;
  const opened = await openStorage(config, { blobs: blobsDirectory, db, clock, logger });
  const { limitBytes, diskOf } = opened;
  const storage = keep(opened.storage);
  await claimStore(storage, {
    db,
    clock,
    place: opened.place,
    isAlone: isStoreAlone(config),
    adopt: config.adoptStore ?? false,
  });
  const stores = await openProjectBlobs({
    storage,
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
    mostEach: config.projectsEach ?? defaultProjectsEach,
  });
  const storeOf = (name: string) => stores.of(name, anyMayBegin);
  const blobsOf = (name: string) => storeOf(name).blobs;
  const { blobs, certain } = storeOf(project);

  const seals = resultSeals(farmKey, ({ project, action, origin }) =>
    logger.error(
      { project, action, origin },
      "a result in the database differs from the one that the farm signed; it is not returned to anybody",
    ),
  );
  await signOldResults(forMaintenance(db), { ...seals, keyId: farmKey.id }, farmKey, clock, logger);
  const treesOf = projectTrees(blobsOf, seals);
  const trees = treesOf(project);
  const cacheUse = keep(openCacheUse({ db, clock, logger }));
  const caches = keep(openCaches({ db, storeOf, treesOf, use: cacheUse, clock, logger }));
  const eviction = keep(
    startEviction({
      db: forMaintenance(db),
      blobsOf,
      treesOf,
      stored: storage.evictable,
      place: opened.rounds,
      directory: blobsDirectory,
      limitBytes,
      diskOf,
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
  const scrubbing =
    storage.scrub &&
    keep(
      startScrub({
        scrub: storage.scrub,
        stores,
        directory: blobsDirectory,
        bytesPerSecond: config.scrubBytesPerSecond,
        clock,
        logger,
      }),
    );
  const standing = async () => ({
    ...(await eviction.standing()),
    scrubbed: (await scrubbing?.finished()) ?? null,
  });
  return {
    stores,
    standing,
    askStore: storage.ask,
    checkedAtOnce: opened.checkedAtOnce,
    counts: () => eviction.counts(),
    writeQuota,
    projectShare,
    storeOf,
    blobsOf,
    treesOf,
    blobs,
    certain,
    trees,
    caches,
    cacheUse,
    eviction,
  };
}

/** Settings of the stores. */
type StoreConfig = Partial<
  Pick<
    ServerConfig,
    | "databaseUrl"
    | "blobs"
    | "bucket"
    | "adoptStore"
    | "durableBlobs"
    | "storeLimitBytes"
    | "scrubBytesPerSecond"
    | "mostProjects"
    | "writeQuotaBytes"
    | "projectsEach"
  >
>;
