import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFarmDatabase } from "#backup/open-farm-database.ts";
import type { BlobStorage } from "#cas/blob-storage.ts";
import { locationText } from "#cas/bucket/bucket-location.ts";
import { readStoreOwner } from "#cas/disk/store-owner.ts";
import { openBlobStorage } from "#cas/open-blob-storage.ts";
import { systemClock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { Db } from "#db/db.ts";
import { migrationState } from "#db/migrate.ts";
import { openPostgres } from "#db/postgres.ts";
import { readRunningServers } from "#db/running-servers.store.ts";
import { blobIndex } from "#server/blob-storage/blob-index.store.ts";
import { type BucketConfig, readBucketConfig } from "#server/blob-storage/config.ts";
import { type CopiedBlobs, copyBlobs } from "#server/blob-storage/copy-blobs.ts";
import { readFarm } from "#server/blob-storage/farm.store.ts";
import { readServerConfig, type ServerConfig } from "#server/config.ts";
import { abortOnSignal } from "../backup/abort-on-signal.ts";
import { showSteps } from "../backup/progress.ts";
import type { StoreCopyOptions } from "../commands/store.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { answer, type Session } from "../session.ts";
import { dataDirectoryFor } from "../up/where-to-run.ts";
import { UsageError } from "../usage-error.ts";

/** The copies on this machine are not needed afterwards. In bytes. */
const cacheBytes = 64 * 1024 ** 2;

/**
 * Copies the blobs of a farm from its directory to the bucket of the settings.
 *
 * When no server of the farm runs, the bucket belongs to the farm afterwards, and its servers can start with it. While
 * one runs it may store further blobs in the directory; then the bucket is not the farm's yet.
 */
export async function copyStore(session: Session, options: StoreCopyOptions): Promise<ExitCode> {
  const config = await configOf(session, options);
  const { bucket, directory } = requirePlaces(config);
  const database = await openFarmDatabase(config.dataDir, config.databaseUrl);
  const db = openPostgres({ url: database.url, poolSize: 4, applicationName: "grange store copy" });
  const caching = await mkdtemp(join(tmpdir(), "grange-store-copy-"));
  let storage: BlobStorage | undefined;
  try {
    const farm = await requireOwnStore(db, directory);
    storage = await openBlobStorage({
      kind: "bucket",
      location: bucket.location,
      index: blobIndex(db, systemClock),
      directory: caching,
      cacheBytes,
      onLost: () => {},
    });
    await requireBucketOf(storage, farm, locationText(bucket.location));
    const ranBefore = await readRunningServers(db);
    const copied = await copyWithProgress(session, directory, storage);
    const isComplete = [ranBefore, await readRunningServers(db)].every(
      ({ length }) => length === 0,
    );
    if (isComplete) await storage.setOwner(farm);
    return tell(session, options, { place: locationText(bucket.location), copied, isComplete });
  } finally {
    await storage?.stop();
    await db.close();
    await database.stop();
    await rm(caching, { recursive: true, force: true });
  }
}

async function configOf({ config }: Session, options: StoreCopyOptions): Promise<ServerConfig> {
  const dataDir = await dataDirectoryFor(options.data ?? config.dataDir, process.cwd());
  return readServerConfig({
    dataDir,
    ...(options.database === undefined ? {} : { databaseUrl: options.database }),
    ...(options.blobs === undefined ? {} : { blobs: options.blobs }),
    ...(options.store === undefined ? {} : { bucket: readBucketConfig(undefined, options.store) }),
  });
}

function requirePlaces({ bucket, blobs, dataDir }: ServerConfig): {
  readonly bucket: BucketConfig;
  readonly directory: string;
} {
  if (bucket === undefined)
    throw new UsageError("name the bucket with --store s3://BUCKET/PREFIX, or in GRANGE_STORE");
  return { bucket, directory: blobs ?? join(dataDir, "blobs") };
}

/** Returns the id of the farm whose blobs the directory has. */
async function requireOwnStore(db: Db, directory: string): Promise<string> {
  const { missing } = await migrationState(db);
  if (missing.length > 0)
    throw new Fault(
      "failed_precondition",
      "the database is of an older version. Start a server of this version once, then copy",
    );
  const farm = await readFarm(db);
  const owner = await readStoreOwner(directory);
  if (farm !== undefined && owner === farm.id) return farm.id;
  throw new Fault(
    "failed_precondition",
    owner === undefined
      ? `${directory} has no blobs of a farm. Name the farm's directory of blobs with --blobs, or its data directory with --data`
      : `the blobs in ${directory} belong to another farm (${owner}) than the database (${farm?.id ?? "none"})`,
  );
}

async function requireBucketOf(storage: BlobStorage, farm: string, place: string): Promise<void> {
  const owner = await storage.owner();
  if (owner === undefined || owner === farm) return;
  throw new Fault(
    "failed_precondition",
    `${place} belongs to another farm (${owner}). Name another bucket or prefix with --store`,
  );
}

async function copyWithProgress(
  { terminal }: Session,
  directory: string,
  storage: BlobStorage,
): Promise<CopiedBlobs> {
  const steps = showSteps(terminal.notes);
  const { signal, stop } = abortOnSignal();
  try {
    return await copyBlobs(
      directory,
      storage,
      (sum) => steps.step({ kind: "blobs", ...sum }),
      signal,
    );
  } finally {
    steps.end();
    stop();
  }
}

function tell(
  session: Session,
  options: StoreCopyOptions,
  done: {
    readonly place: string;
    readonly copied: CopiedBlobs;
    readonly isComplete: boolean;
  },
): ExitCode {
  const { place, copied, isComplete } = done;
  const { blobs, bytes, damaged } = copied;
  answer(session, options, done, () => [
    `${place} has ${blobs - damaged - copied.removed} blobs of ${memorySizeText(bytes)}, ` +
      `of which ${copied.copied} (${memorySizeText(copied.copiedBytes)}) are new`,
    ...(damaged === 0
      ? []
      : [
          `${damaged} blobs are damaged and not copied. The farm makes them again when they are needed`,
        ]),
    isComplete
      ? `The farm can start with GRANGE_STORE=${place}; set it for all its servers`
      : "Servers of the farm run, and may store further blobs in the directory. Stop them, and run this command again: it copies only what is new",
  ]);
  return exitCodes.ok;
}
