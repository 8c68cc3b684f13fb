import type { Stats } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { rest } from "#core/resting.ts";

/** `st_blocks` counts units of this size, whatever the file system's own (POSIX stat.h). */
const blockBytes = 512;

/**
 * What each file, link and directory costs besides its blocks: its inode and its name. File systems with a fixed number
 * of inodes have one for every 16 KiB or less; without this, an action could use all of them within any quota.
 */
const entryBytes = 1_024;

/** The first check is early, because an action may fill its quota in a second. */
const firstMs = 100;
/** The pause after a check, as a multiple of how long the check took: checks use at most 1/20 of a CPU. */
const pauseFactor = 20;
const leastPauseMs = 250;

/** The directories in which an action writes, and how much of the disk they may use together. */
export interface DiskQuota {
  readonly directories: readonly string[];
  readonly bytes: number;
}

/**
 * Returns how much of the disk the files below some directories use, in bytes, with 1 KiB for each entry; stops counting
 * above `mostBytes`.
 *
 * A file with several hard links counts once. Files and directories that disappear meanwhile, or that this process may
 * not read, do not count; nor do deleted files that a process still has open.
 */
export async function diskUse(
  directories: readonly string[],
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<number> {
  const linked = new Set<string>();
  const waiting = [...directories];
  let bytes = 0;
  const count = (found: Stats) => {
    if (found.nlink > 1 && !found.isDirectory()) {
      const id = `${found.dev}:${found.ino}`;
      if (linked.has(id)) return;
      linked.add(id);
    }
    bytes += found.blocks * blockBytes + entryBytes;
  };
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const directory = await opendir(path).catch(() => undefined);
    if (directory === undefined) continue;
    try {
      for await (const entry of directory) {
        const at = join(path, entry.name);
        const found = await lstat(at).catch(() => undefined);
        if (found === undefined) continue;
        count(found);
        if (bytes > mostBytes) return bytes;
        if (found.isDirectory()) waiting.push(at);
      }
    } catch {
      // The action removed the directory while it was read.
    }
  }
  return bytes;
}

/** Returns the quota for what an action writes. Where inputs are copied, they lie there already and do not count. */
export async function diskQuotaFor(
  directories: readonly string[],
  bytes: number | undefined,
): Promise<DiskQuota | undefined> {
  if (bytes === undefined) return undefined;
  return { directories, bytes: bytes + (await diskUse(directories)) };
}

/** Returns whether the directories use more than the quota now. */
export async function isOverQuota({ directories, bytes }: DiskQuota): Promise<boolean> {
  return (await diskUse(directories, bytes)) > bytes;
}

/**
 * Checks the use of the disk until it is above the quota, or until the signal.
 *
 * @returns whether it was above the quota
 */
export async function exceedsQuota(quota: DiskQuota, ended: AbortSignal): Promise<boolean> {
  await rest(firstMs, ended);
  while (!ended.aborted) {
    const before = performance.now();
    if (await isOverQuota(quota)) return true;
    await rest(Math.max(leastPauseMs, pauseFactor * (performance.now() - before)), ended);
  }
  return false;
}
