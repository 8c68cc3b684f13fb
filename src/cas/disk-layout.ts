import { join } from "node:path";
import { type Digest, parseDigestKey } from "#core/digest.ts";

/**
 * Where things lie in a store's directory:
 *
 *     blobs/2c/2cf24dba…   a blob, named by its hash; 256 shards keep directories short
 *     temp/…               a blob that is being written; renamed when it is whole
 *
 * The size is not in the name: it is the file's own. A file whose size is not its
 * digest's is no blob, whatever cut it off.
 */
export interface DiskLayout {
  readonly blobs: string;
  readonly temp: string;
  readonly path: (digest: Digest) => string;
}

export function diskLayout(directory: string): DiskLayout {
  const blobs = join(directory, "blobs");
  return {
    blobs,
    temp: join(directory, "temp"),
    path: (digest) => join(blobs, digest.hash.slice(0, 2), digest.hash),
  };
}

/** The digest of a file in a shard; undefined for a stray one. */
export function digestOfFile(name: string, sizeBytes: number): Digest | undefined {
  return /^[0-9a-f]{64}$/.test(name) ? parseDigestKey(`${name}/${sizeBytes}`) : undefined;
}
