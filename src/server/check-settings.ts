import { join } from "node:path";
import { openFarmKey } from "#access/farm-key.ts";
import { openSecretsKey } from "#access/secrets/secrets-key.ts";
import { readStoreOwner } from "#cas/disk/store-owner.ts";
import type { Db } from "#db/db.ts";
import { readFarm } from "./blob-storage/farm.store.ts";
import {
  isStoreAlone,
  judgeStore,
  type StoreSeen,
  type StoreVerdict,
} from "./blob-storage/judge-store.ts";
import type { ServerConfig } from "./config.ts";

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

/** Returns what a server with these settings would do with the store of blobs; changes neither store nor database. */
export async function verdictOnStore(
  db: Db,
  config: ServerConfig,
): Promise<{ readonly verdict: StoreVerdict; readonly seen: StoreSeen; readonly place: string }> {
  const place = config.blobs ?? join(config.dataDir, "blobs");
  const [farm, owner] = await Promise.all([readFarm(db), readStoreOwner(place)]);
  const seen: StoreSeen = {
    farm: farm?.id ?? "",
    hasStore: farm?.hasStore ?? false,
    owner,
    isAlone: isStoreAlone(config),
    adopt: config.adoptStore,
  };
  return { verdict: judgeStore(seen), seen, place };
}
