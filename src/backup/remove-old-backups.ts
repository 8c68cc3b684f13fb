import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { shards } from "#cas/disk/list-blobs.ts";
import { Fault } from "#core/fault.ts";
import { type ListedBlob, readBlobList } from "./blob-list.ts";
import { type BackupLayout, isBackupName, oneBackup, shardOf } from "./layout.ts";
import { readManifest } from "./manifest.ts";
import { type FoundBackup, whichToRemove } from "./which-to-remove.ts";

/** Returns the backups of a directory, the oldest first. */
async function findBackups(layout: BackupLayout): Promise<FoundBackup[]> {
  const names = (await readdir(layout.backups)).filter(isBackupName).toSorted();
  return Promise.all(names.map(async (name) => ({ name, state: await stateOf(layout, name) })));
}

async function stateOf(layout: BackupLayout, name: string): Promise<FoundBackup["state"]> {
  try {
    const manifest = await readManifest(oneBackup(layout, name).manifest);
    return manifest === undefined ? "incomplete" : "complete";
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "data_loss") return "damaged";
    throw reason;
  }
}

export interface Removed {
  readonly backups: number;
  readonly blobs: number;
}

/**
 * Removes backups beyond the newest `keep`, and blobs that no remaining backup contains.
 *
 * The manifest of a backup is removed first, so a partly removed backup is incomplete. The caller holds the directory's
 * lock. No blob is removed while a list cannot be read in full: it may be needed.
 */
export async function removeOldBackups(layout: BackupLayout, keep: number): Promise<Removed> {
  const found = await findBackups(layout);
  const old = whichToRemove(found, keep);
  for (const name of old) {
    const backup = oneBackup(layout, name);
    await rm(backup.manifest, { force: true });
    await rm(backup.directory, { recursive: true, force: true });
  }
  if (old.length === 0) return { backups: 0, blobs: 0 };
  const left = found.filter(({ name }) => !old.includes(name));
  const lists = left.map(({ name }) => shardReader(oneBackup(layout, name).blobList));
  let blobs = 0;
  try {
    for (const shard of shards) {
      const needed = new Set<string>();
      for (const list of lists) for (const hash of await list.hashesOf(shard)) needed.add(hash);
      const present = await readdir(layout.shard(shard)).catch(() => []);
      for (const hash of present) {
        if (needed.has(hash)) continue;
        await rm(join(layout.shard(shard), hash), { force: true });
        blobs++;
      }
    }
  } finally {
    for (const list of lists) await list.close();
  }
  return { backups: old.length, blobs };
}

/** Reads a list shard by shard: the list and the calls are sorted by shard. */
function shardReader(path: string) {
  const lines = readBlobList(path);
  let ahead: ListedBlob | undefined;
  let isOver = false;
  const next = async () => {
    const { value, done } = await lines.next();
    isOver = done === true;
    ahead = done === true ? undefined : value;
  };
  return {
    async hashesOf(shard: string): Promise<string[]> {
      const hashes: string[] = [];
      if (ahead === undefined && !isOver) await next();
      while (ahead !== undefined && shardOf(ahead.digest) === shard) {
        hashes.push(ahead.digest.hash);
        await next();
      }
      return hashes;
    },
    close: () => lines.return(),
  };
}
