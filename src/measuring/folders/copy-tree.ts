import { constants } from "node:fs";
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readlink,
  symlink,
  utimes,
} from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";

/**
 * Copies a tree, with links as links, so that the copy is writable: in the artifact cache, files are read-only. Times
 * stay the same, so that programs that compare them do not rebuild everything.
 */
export async function copyTree(from: string, to: string): Promise<void> {
  const entry = await lstat(from);
  if (!entry.isDirectory()) {
    throw new Fault("failed_precondition", `${from} is not a directory`);
  }
  await mkdir(to, { recursive: true });
  for (const each of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, each.name), join(to, each.name)];
    if (each.isDirectory()) await copyTree(source, target);
    else if (each.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (each.isFile()) {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
      const { mode, atime, mtime } = await lstat(source);
      await chmod(target, (mode & 0o777) | 0o600);
      await utimes(target, atime, mtime);
    }
    // Sockets and devices are not copied.
  }
}
