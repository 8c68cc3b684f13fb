import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { CodeCacheSettings } from "./config.ts";

/**
 * Returns the directory of code caches: beside the program if the program is this user's own, otherwise in the user's
 * directory for caches. Undefined if there is to be none.
 *
 * V8 executes what is in a code cache, so that a process reads only what its own user wrote. Root and the users of a program
 * that root installed have separate caches.
 */
export function codeCacheDirectory(
  /** The folder with the program's chunks. */
  programs: string,
  { isOff, userCaches }: CodeCacheSettings,
  /** The user of this process; undefined where the system has no such numbers. */
  uid: number | undefined,
): string | undefined {
  if (isOff || uid === undefined) return undefined;
  if (statSync(programs).uid === uid) return join(programs, "code-cache");
  return userCaches === undefined ? undefined : join(userCaches, "grange", "code-cache");
}

/** Makes the directory, for this user alone. */
export function makePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
}

/** Whether only this user can write to a file or a directory. */
export function isWrittenOnlyBy(
  uid: number | undefined,
  stats: { readonly uid: number; readonly mode: number },
): boolean {
  return stats.uid === uid && (stats.mode & 0o022) === 0;
}
