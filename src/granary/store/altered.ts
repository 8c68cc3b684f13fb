import type { Stats } from "node:fs";
import { modifiedAt } from "#cas/disk/disk-layout.ts";

/**
 * Returns whether a blob's file was written to after it was stored.
 *
 * A hard link that a tool got is the blob itself, and a tool that writes to it writes to the store. All blobs have the
 * same modification time, so a changed time shows a write. A tool that writes and restores the time (`strip -p` does so
 * on purpose for a file with several names) is found by the change time, with the hash: see `soundness.ts`.
 */
export function isAltered({ mtimeMs }: Pick<Stats, "mtimeMs">): boolean {
  return mtimeMs !== modifiedAt.getTime();
}
