import {
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { BlobStore } from "#cas/blob-store.ts";
import { errnoOf } from "#cas/disk/disk-fault.ts";
import { tempFileIn } from "#cas/temp-file.ts";
import { giveToJobs } from "#machine/job-owner.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { inputMtime, type LocalStore } from "../local-store.ts";
import type { InputProperties } from "./input-directory.ts";
import type { LayerEntries } from "./layer-entries.ts";

/** The number of links that are made at once, about 3 ms; then heartbeats and logs get their turn. */
const linksInOneGo = 200;

/**
 * Builds a layer of hard links under a temporary name, and renames it when it is complete.
 *
 * Two processes may build the same layer; the second rename fails, and its work is dropped. Links are made
 * synchronously, because a round trip to the thread pool costs more than a link.
 *
 * Equal files of a layer get an inode each; otherwise tools that look for hard links (tar, npm pack, rsync) would take
 * them for one file. So do files with a time or a mode from the client, because both belong to the inode.
 */
export async function buildLayer(
  directory: string,
  entries: LayerEntries,
  local: LocalStore,
  farm: BlobStore,
): Promise<void> {
  await local.fetch(entries.files, farm);
  const temp = tempFileIn(local.tempDirectory);
  const tree = join(temp, "tree");
  await mkdir(tree, { recursive: true });
  // Parents before their children, so that no directory is created implicitly.
  for (const { path } of entries.directories) {
    mkdirSync(join(tree, path));
    giveToJobs(join(tree, path));
  }
  for (const { path, target } of entries.symlinks) {
    symlinkSync(target, join(tree, path));
    giveToJobs(join(tree, path));
  }
  const linked = new Set<string>();
  for (let at = 0; at < entries.files.length; at += linksInOneGo) {
    for (const file of entries.files.slice(at, at + linksInOneGo)) {
      const to = join(tree, file.path);
      const from = local.path(file);
      try {
        if (linked.has(from) || file.properties) copySync(from, to);
        else linkSync(from, to);
        if (file.properties) applyProperties(to, file.properties);
        else linked.add(from);
      } catch (reason) {
        // The file has too many links, or was trimmed after it was fetched: both cases have a slower solution.
        if (errnoOf(reason) === "ENOENT") await local.fetch([file], farm);
        await local.linkTo(file, to);
        if (file.properties) {
          await local.replaceByCopy(file, to);
          applyProperties(to, file.properties);
        }
      }
    }
    await setImmediate();
  }
  // The deepest first, because adding an entry to a directory changes its time.
  for (const { path, properties } of entries.directories.toReversed()) {
    if (properties) applyDirectoryProperties(join(tree, path), properties);
  }
  await writeFile(join(temp, "files"), `${entries.files.length}\n`);
  try {
    await rename(temp, directory);
  } catch (reason) {
    await removeTree(temp);
    if (!["EEXIST", "ENOTEMPTY"].includes(errnoOf(reason) ?? "")) throw reason;
  }
}

/** Sets the time and the mode that a client requested for a file of one tree. */
export function applyProperties(path: string, { mtime, mode }: InputProperties): void {
  if (mode !== undefined) chmodSync(path, mode);
  if (mtime !== undefined) utimesSync(path, mtime, mtime);
}

/**
 * Sets mode and time of a directory. Its owner can always enter and write it, because the job creates and removes
 * entries there.
 */
export function applyDirectoryProperties(path: string, { mtime, mode }: InputProperties): void {
  applyProperties(path, {
    ...(mtime === undefined ? {} : { mtime }),
    ...(mode === undefined ? {} : { mode: mode | 0o700 }),
  });
}

function copySync(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  giveToJobs(to);
  utimesSync(to, inputMtime, inputMtime);
}
