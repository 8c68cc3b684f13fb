import {
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { giveToJobs } from "#machine/job-owner.ts";
import type { MergedDirectory, MergedNode } from "./merge-layers.ts";

/** About 5 ms of calls, after which other tasks get their turn. */
const callsInOneGo = 300;

/**
 * Writes a merged tree below a directory that does not exist yet. Files are hard links into the layers.
 *
 * Only directories that this function has just made are written to, and links are made but never followed.
 */
export async function writeRoot(
  tree: MergedDirectory,
  at: string,
  fileOf: (layer: number, number: number) => string,
): Promise<void> {
  let calls = 0;
  const write = async (directory: MergedDirectory, path: string): Promise<void> => {
    mkdirSync(path, { mode: 0o700 });
    for (const [name, node] of directory.children) {
      if (++calls % callsInOneGo === 0) await setImmediate();
      if (node.kind === "directory") await write(node, join(path, name));
      else writeNode(node, join(path, name), fileOf);
    }
    giveToJobs(path);
    chmodSync(path, directory.mode | 0o700);
    utimesSync(path, directory.mtime, directory.mtime);
  };
  await write(tree, at);
}

function writeNode(
  node: Exclude<MergedNode, MergedDirectory>,
  at: string,
  fileOf: (layer: number, number: number) => string,
): void {
  switch (node.kind) {
    case "symlink":
      symlinkSync(node.target, at);
      giveToJobs(at);
      return;
    case "text":
      writeFileSync(at, node.text, { mode: 0o644, flag: "wx" });
      giveToJobs(at);
      return;
    case "file":
      linkOrCopy(fileOf(node.layer, node.number), at);
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (reason) {
    // ext4 allows 65,000 names for one file.
    if ((reason as NodeJS.ErrnoException).code !== "EMLINK") throw reason;
    copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    giveToJobs(to);
  }
}
