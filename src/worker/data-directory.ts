import { statSync } from "node:fs";
import type { HelperShell } from "./helper-shell.ts";

/**
 * Returns a function that tells whether a directory is no longer the one that the worker opened: a disk was mounted on
 * its path, or unmounted.
 *
 * The helper shell keeps the mounts that existed when it started. Its jobs would see the old disk, on which nothing can
 * be written any more, while the worker sees the new one. Takes two calls of stat(2), about 10 µs.
 */
export function watchReplacement(
  directory: string,
  shell: Pick<HelperShell, "reach">,
): () => boolean {
  const opened = identityOf(directory);
  return () => {
    const now = identityOf(directory);
    if (now.kind === "unknown") return false;
    if (!isSame(now, opened)) return true;
    // A disk that was mounted again may have the same numbers, but the shell then still sees what was there before.
    const seenByShell = identityOf(shell.reach(directory));
    return seenByShell.kind === "found" && !isSame(seenByShell, now);
  };
}

type Identity =
  | { readonly kind: "found"; readonly device: bigint; readonly inode: bigint }
  | { readonly kind: "absent" }
  /** A disk that fails is not a replaced one. */
  | { readonly kind: "unknown" };

function identityOf(directory: string): Identity {
  try {
    const { dev, ino } = statSync(directory, { bigint: true });
    return { kind: "found", device: dev, inode: ino };
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException;
    return { kind: code === "ENOENT" || code === "ENOTDIR" ? "absent" : "unknown" };
  }
}

function isSame(one: Identity, other: Identity): boolean {
  if (one.kind !== "found" || other.kind !== "found") return one.kind === other.kind;
  return one.device === other.device && one.inode === other.inode;
}
