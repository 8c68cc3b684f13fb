import { join } from "node:path";
import { diskLayout } from "#cas/disk-layout.ts";
import type { Digest } from "#core/digest.ts";

/**
 * Where things lie in a granary's data directory:
 *
 *     blobs/2c/2cf24dba…     a blob (`#cas/disk-layout.ts`)
 *     blobs/2c/2cf24dba….x   the same bytes, executable: a mode belongs to the inode, and tools link to it
 *     results/9f/9f86d081…   a result, by the hash of its project, namespace and key
 *     temp/…                 being written; renamed when whole
 */
export interface StorePaths {
  readonly blobs: string;
  readonly results: string;
  readonly temp: string;
  readonly blob: (digest: Digest) => string;
  readonly executable: (digest: Digest) => string;
  readonly result: (fileName: string) => string;
}

export const executableSuffix = ".x";

export function storePaths(directory: string): StorePaths {
  const { blobs, temp, path } = diskLayout(directory);
  const results = join(directory, "results");
  return {
    blobs,
    results,
    temp,
    blob: path,
    executable: (digest) => `${path(digest)}${executableSuffix}`,
    result: (fileName) => join(results, fileName.slice(0, 2), fileName),
  };
}
