import { join } from "node:path";
import { diskLayout } from "#cas/disk/disk-layout.ts";
import type { Digest } from "#core/digest.ts";

/** The files of the store in a granary's data directory:
 *
 *     packs/000000000001.pack  results and small blobs (`pack.ts`)
 *     blobs/2c/2cf24dba…     a larger blob, or one that a tool was given a link to (`#cas/disk-layout.ts`)
 *     blobs/2c/2cf24dba….x   the same bytes, executable: a mode belongs to the inode, and tools link to it
 *     temp/…                 files that are being written; renamed when they are complete
 */
export interface StorePaths {
  readonly blobs: string;
  readonly packs: string;
  /** The directory in which granaries stored results before packs existed. */
  readonly oldResults: string;
  readonly temp: string;
  readonly blob: (digest: Digest) => string;
  readonly executable: (digest: Digest) => string;
}

export const executableSuffix = ".x";

export function storePaths(directory: string): StorePaths {
  const { blobs, temp, path } = diskLayout(directory);
  return {
    blobs,
    packs: join(directory, "packs"),
    oldResults: join(directory, "results"),
    temp,
    blob: path,
    executable: (digest) => `${path(digest)}${executableSuffix}`,
  };
}
