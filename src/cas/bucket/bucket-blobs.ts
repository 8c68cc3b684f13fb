import { type Digest, digestKey, isEmptyDigest, uniqueDigests } from "#core/digest.ts";
import type { FairGate } from "#core/fair-gate.ts";
import type { NamespaceStorage, UnnamedBlobs } from "../blob-storage.ts";
import type { DiskBlobStore } from "../disk/disk-blob-store.ts";
import type { StartCopy } from "../disk/file-copy.ts";
import type { Namespace } from "../namespaces/namespace.ts";
import type { BlobIndex } from "./blob-index.ts";
import { bucketReads } from "./bucket-reads.ts";
import { bucketWrites } from "./bucket-writes.ts";
import type { S3Bucket } from "./s3-bucket.ts";

/** What all namespaces of a bucket share. */
export interface BucketParts {
  readonly bucket: S3Bucket;
  readonly index: BlobIndex;
  /** Limits how many parts of large objects are in memory. */
  readonly gate: FairGate;
  /** The same for blobs of up to 1 MiB that are fetched. */
  readonly smallGate: FairGate;
  /** Called with the size of each copy that was added to the disk. */
  readonly cached: (sizeBytes: number) => void;
  /** Called for a blob of the index whose object is absent or corrupt. */
  readonly onLost: (digest: Digest) => void;
}

interface BucketBlobs extends Pick<NamespaceStorage, "blobs">, Pick<UnnamedBlobs, "take"> {
  readonly startCopy: StartCopy;
}

/**
 * The blobs of one namespace in a bucket, with copies on the disk of those that this server used lately.
 *
 * The index alone decides whether a blob exists. The bucket has every blob of which the disk has a copy, so any copy may
 * be removed at any time.
 */
export function bucketBlobs(
  parts: BucketParts,
  namespace: Namespace,
  disk: DiskBlobStore,
): BucketBlobs {
  const reads = bucketReads(parts, namespace, disk);
  const { put, write, take, startCopy } = bucketWrites(parts, namespace, disk);
  return {
    take,
    startCopy,
    blobs: {
      ...reads,
      put,
      write,
      async findMissing(digests) {
        const wanted = uniqueDigests(digests).filter((digest) => !isEmptyDigest(digest));
        if (wanted.length === 0) return [];
        const known = await parts.index.use(namespace, wanted);
        return wanted.filter((digest) => !known.has(digestKey(digest)));
      },
    },
  };
}
