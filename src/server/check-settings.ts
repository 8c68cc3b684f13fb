import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { openFarmKey } from "#access/farm-key.ts";
import { openSecretsKey } from "#access/secrets/secrets-key.ts";
import { readBucketOwner } from "#cas/bucket/bucket-owner.ts";
import { openS3Bucket } from "#cas/bucket/s3-bucket.ts";
import type { S3Times } from "#cas/bucket/s3-exchange.ts";
import { readStoreOwner } from "#cas/disk/store-owner.ts";
import type { Db } from "#db/db.ts";
import type { BucketConfig } from "./blob-storage/config.ts";
import { readFarm } from "./blob-storage/farm.store.ts";
import {
  isStoreAlone,
  judgeStore,
  type StoreSeen,
  type StoreVerdict,
} from "./blob-storage/judge-store.ts";
import type { ServerConfig } from "./config.ts";

/** Shorter than those of a server, because a person waits for the result of a check. */
const checkTimes: S3Times = { idleMs: 3_000, requestMs: 5_000, giveUpMs: 6_000 };

/** A key that a server opens when it starts, and creates when its file is missing. */
export interface ServerKey {
  readonly name: string;
  readonly file: string;
  /** Throws an error whose message describes the problem. */
  open(): Promise<unknown>;
}

export function keysOf({ dataDir, farmKey, secretsKey }: ServerConfig): ServerKey[] {
  return [
    {
      name: "key of the farm",
      file: farmKey ?? join(dataDir, "farm.key"),
      open: () => openFarmKey(dataDir, farmKey),
    },
    {
      name: "key of secrets",
      file: secretsKey ?? join(dataDir, "secrets.key"),
      open: () => openSecretsKey(dataDir, secretsKey),
    },
  ];
}

/** Returns the farm that owns the store of blobs. Throws when the store cannot be read. */
async function ownerOfStore({ bucket, blobs, dataDir }: ServerConfig) {
  if (bucket === undefined) {
    const place = blobs ?? join(dataDir, "blobs");
    return { place, owner: await readStoreOwner(place) };
  }
  const opened = openS3Bucket(bucket.location, checkTimes);
  try {
    return { place: opened.place, owner: await readBucketOwner(opened) };
  } finally {
    opened.close();
  }
}

/** Checks what the server needs to do with its bucket: writes, reads and removes an object. */
export async function tryBucket({ location }: BucketConfig): Promise<void> {
  const opened = openS3Bucket(location, checkTimes);
  const key = `check-${randomUUID()}`;
  try {
    await opened.put(key, Buffer.from("written by grange server --check\n"));
    await opened.get(key);
    await opened.remove(key);
  } finally {
    opened.close();
  }
}

/** Returns what a server with these settings would do with the store of blobs; changes neither store nor database. */
export async function verdictOnStore(
  db: Db,
  config: ServerConfig,
): Promise<{ readonly verdict: StoreVerdict; readonly seen: StoreSeen; readonly place: string }> {
  const { place, owner } = await ownerOfStore(config);
  const farm = await readFarm(db);
  const seen: StoreSeen = {
    farm: farm?.id ?? "",
    hasStore: farm?.hasStore ?? false,
    owner,
    isAlone: isStoreAlone(config),
    adopt: config.adoptStore,
  };
  return { verdict: judgeStore(seen), seen, place };
}
