import { join } from "node:path";
import type { Logger } from "pino";
import type { BlobStorage } from "#cas/blob-storage.ts";
import { locationText } from "#cas/bucket/bucket-location.ts";
import { type DiskSize, diskSizeOf } from "#cas/disk/disk-usage.ts";
import { openBlobStorage } from "#cas/open-blob-storage.ts";
import type { Clock } from "#core/clock.ts";
import { digestKey } from "#core/digest.ts";
import type { Db } from "#db/db.ts";
import { roundsInDatabase } from "../retention/rounds-in-database.ts";
import { defaultLimitBytes } from "../retention/store-goal.ts";
import { type RoundPlace, roundsInDirectory } from "../retention/store-rounds.ts";
import { blobIndex } from "./blob-index.store.ts";
import type { BucketConfig } from "./config.ts";

/** The store of a farm, and its limits. */
interface OpenedStorage {
  readonly storage: BlobStorage;
  /** For messages. */
  readonly place: string;
  /** The limit of the store; undefined: none. In bytes. */
  readonly limitBytes: number | undefined;
  /** Returns the disk whose free space limits the store. */
  readonly diskOf: (directory: string) => Promise<DiskSize>;
  /** Where the servers of the store agree who works on it. */
  readonly rounds: RoundPlace;
  /** How many blobs are looked up at once for a client that asks for many; undefined: the default. */
  readonly checkedAtOnce: number | undefined;
}

/** The directory of a server's copies of blobs from a bucket, in its directory of blobs. */
const copiesDirectory = "copies";

/**
 * Blobs that one statement looks up in the index of a bucket. A database 80 ms away needs 160 ms for 1,000 of them; preparing a
 * statement for more would block the event loop for longer.
 */
const lookedUpAtOnce = 500;

/** A bucket does not fill up. */
const endless: DiskSize = { bytes: Number.MAX_SAFE_INTEGER, freeBytes: Number.MAX_SAFE_INTEGER };

/** Opens the store that the settings name: a bucket, or a directory. */
export async function openStorage(
  config: {
    readonly bucket?: BucketConfig | undefined;
    readonly durableBlobs?: boolean;
    readonly storeLimitBytes?: number | undefined;
  },
  parts: {
    readonly blobs: string;
    readonly db: Db;
    readonly clock: Clock;
    readonly logger: Logger;
  },
): Promise<OpenedStorage> {
  const { blobs, db, clock, logger } = parts;
  const { bucket, storeLimitBytes } = config;
  if (bucket === undefined)
    return {
      storage: await openBlobStorage({
        kind: "disk",
        directory: blobs,
        isDurable: config.durableBlobs ?? false,
      }),
      place: blobs,
      limitBytes: withoutZero(
        storeLimitBytes ?? defaultLimitBytes((await diskSizeOf(blobs)).bytes),
      ),
      diskOf: diskSizeOf,
      rounds: roundsInDirectory(blobs),
      checkedAtOnce: undefined,
    };
  const storage = await openBlobStorage({
    kind: "bucket",
    location: bucket.location,
    index: blobIndex(db, clock),
    directory: join(blobs, copiesDirectory),
    cacheBytes: bucket.cacheBytes ?? defaultLimitBytes((await diskSizeOf(blobs)).bytes),
    onLost: (namespace, digest) =>
      logger.error(
        { namespace, blob: digestKey(digest) },
        "the bucket lost a blob, or its bytes are corrupt; it is reported as missing from now on",
      ),
  });
  return {
    storage,
    place: locationText(bucket.location),
    limitBytes: withoutZero(storeLimitBytes ?? 0),
    diskOf: async () => endless,
    rounds: roundsInDatabase(db),
    checkedAtOnce: lookedUpAtOnce,
  };
}

/** 0 is the setting for no limit. */
function withoutZero(limitBytes: number): number | undefined {
  return limitBytes === 0 ? undefined : limitBytes;
}
