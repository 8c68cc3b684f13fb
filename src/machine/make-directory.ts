import { chmodSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a directory and its parents; accepts an existing one.
 *
 * Not with Node's `recursive`: in a file system that refuses directories (`/proc`), it retries forever without
 * yielding, and no signal ends it.
 */
export function makeDirectory(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException;
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    const above = dirname(path);
    const isAboveThere = statSync(above, { throwIfNoEntry: false }) !== undefined;
    if (code !== "ENOENT" || above === path || isAboveThere) throw reason;
    makeDirectory(above, mode);
    makeDirectory(path, mode);
  }
}

/**
 * Creates a directory that only its owner may enter, and removes the access of others from an existing one, because an
 * earlier version made it accessible.
 *
 * With their own modes, the files in it would allow everybody to read blobs and mirrors of private repositories.
 */
export function makePrivateDirectory(path: string): void {
  makeDirectory(path, 0o700);
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o700);
}
