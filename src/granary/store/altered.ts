import type { Stats } from "node:fs";
import { modifiedAt } from "#cas/disk/disk-layout.ts";

/**
 * Whether a blob's file was written to after it was kept.
 *
 * A hard link that a tool was given is the blob itself, and a tool that writes to it writes to the store. Every blob
 * has one constant modification time, so that a look at it tells. Who writes and sets the time back (`strip -p` does
 * so on purpose where a file has several names) is found by the change time, with the hash: see `soundness.ts`.
 */
export function isAltered({ mtimeMs }: Pick<Stats, "mtimeMs">): boolean {
  return mtimeMs !== modifiedAt.getTime();
}
