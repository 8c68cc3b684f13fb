import { join, sep } from "node:path";
import { Digest, emptyDigest, hexOf, isEmptyDigest } from "#core/digest.ts";

/**
 * The layout of a store's directory:
 *
 *     blobs/2c/2cf24dba…      a blob, named by its hash; 256 shards keep directories short
 *     blobs/ea/blake3-ea8f…   a blob that is named by another function than SHA-256
 *     temp/…                  a blob that is being written; renamed when it is complete
 *     leaving/2cf24dba…       a blob that is being removed, until it is certain that it is unused
 *
 * The size is not in the name: it is the file's own. A file whose size differs
 * from its digest is not a blob.
 */
export interface DiskLayout {
  readonly blobs: string;
  readonly temp: string;
  readonly path: (digest: Digest) => string;
  readonly leaving: string;
  readonly leavingPath: (digest: Digest) => string;
}

export function diskLayout(directory: string, temp = join(directory, "temp")): DiskLayout {
  const blobs = join(directory, "blobs");
  const leaving = join(directory, "leaving");
  const start = blobs + sep;
  return {
    blobs,
    temp,
    path: (digest) => {
      // The empty blob is one file for all functions.
      const kept = isEmptyDigest(digest) ? emptyDigest : digest;
      // `join` parses all of the path, which took a tenth of the time of a look-up.
      return start + hexOf(kept).slice(0, 2) + sep + kept.hash;
    },
    leaving,
    leavingPath: ({ hash }) => join(leaving, hash),
  };
}

/** Returns the digest of a file in a shard; undefined for a stray one. */
export function digestOfFile(name: string, sizeBytes: number): Digest | undefined {
  return Digest.safeParse({ hash: name, sizeBytes }).data;
}

/**
 * Every blob has this modification time, so that files linked into an input root look the same on every worker. Only
 * the access time records use.
 */
export const modifiedAt = new Date("2000-01-01T00:00:00Z");
