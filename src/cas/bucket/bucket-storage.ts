import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, isEmptyDigest } from "#core/digest.ts";
import { FairGate } from "#core/fair-gate.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { BlobStorage, NamespaceStorage } from "../blob-storage.ts";
import { type DiskBlobStore, openDiskBlobStore } from "../disk/disk-blob-store.ts";
import { openDiskUploads } from "../disk/disk-uploads.ts";
import { openNamespacedEviction } from "../disk/namespaced-eviction.ts";
import { type Namespace, ownNamespace } from "../namespaces/namespace.ts";
import type { BlobIndex } from "./blob-index.ts";
import { type BucketParts, bucketBlobs } from "./bucket-blobs.ts";
import { readBucketOwner } from "./bucket-owner.ts";
import { bucketUploads } from "./bucket-uploads.ts";
import { ownerKey } from "./object-keys.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import { trimCache } from "./trim-cache.ts";

/** 8 MiB each, unless blobs have more than 80 GB. */
const partsInMemory = 12;
/**
 * Small blobs that are fetched at the same time, of 1 MiB at most. An object store answers after 20 ms or more, one that
 * is far away after 100 ms, so few at a time would leave the link idle.
 */
const smallInMemory = 48;
/** So far below the limit that a few new copies do not start another round. */
const trimTo = 0.9;
const removedAtOnce = 8;

export interface BucketStorageOptions {
  readonly bucket: S3Bucket;
  readonly index: BlobIndex;
  /** The directory of the copies, which only this server uses. */
  readonly directory: string;
  /** The limit of the copies on the disk. */
  readonly cacheBytes: number;
  /** Called for a blob that the index had and whose object is absent or corrupt. */
  readonly onLost: (namespace: Namespace, digest: Digest) => void;
}

/** Opens blobs in a bucket, with copies on the disk of those that this server uses. */
export async function openBucketStorage(options: BucketStorageOptions): Promise<BlobStorage> {
  const { bucket, index, directory, cacheBytes, onLost } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const ending = new AbortController();
  const ownDisk = await openDiskBlobStore(directory);
  const uploads = await openDiskUploads(directory, ownDisk);
  const copies = await openNamespacedEviction(directory);
  const gate = new FairGate(partsInMemory);
  const smallGate = new FairGate(smallInMemory);
  let copiedBytes = 0;
  /** The bytes of copies that were made since the last round began, which it may not have seen. */
  let copiedSinceBytes = 0;
  let trimming: Promise<void> | undefined;
  let asking: Promise<unknown> | undefined;
  const own = storageOn(ownNamespace, ownDisk);

  function cached(sizeBytes: number): void {
    copiedBytes += sizeBytes;
    copiedSinceBytes += sizeBytes;
    if (copiedBytes > cacheBytes && !ending.signal.aborted) trim();
  }

  function trim(): void {
    trimming ??= trimOnce().finally(() => {
      trimming = undefined;
    });
  }

  async function trimOnce(): Promise<void> {
    copiedSinceBytes = 0;
    const bytes = await trimCache(copies, cacheBytes * trimTo, new Date(), ending.signal).catch(
      // The next copy above the limit starts another round.
      () => undefined,
    );
    if (bytes === undefined) return;
    copiedBytes = bytes + copiedSinceBytes;
    if (copiedSinceBytes > 0 && copiedBytes > cacheBytes && !ending.signal.aborted)
      await trimOnce();
  }

  function storageOn(namespace: Namespace, disk: DiskBlobStore): NamespaceStorage {
    const parts: BucketParts = {
      bucket,
      index,
      gate,
      smallGate,
      cached,
      onLost: (digest) => onLost(namespace, digest),
    };
    const { blobs, take, startCopy } = bucketBlobs(parts, namespace, disk);
    return {
      blobs,
      uploads: bucketUploads(parts, uploads, uploads.into(disk, startCopy)),
      unnamed: { take, withHash: (hash) => index.findHash(namespace, hash) },
    };
  }

  async function openNamespace(namespace: Namespace): Promise<NamespaceStorage> {
    const disk = await openDiskBlobStore(join(directory, namespace), { sharedTemp: ownDisk.temp });
    return storageOn(namespace, disk);
  }

  /** Removes an object that no blob names. */
  async function removeObject(object: string, upload?: string): Promise<void> {
    if (upload !== undefined) await bucket.abandonParts(object, upload);
    await bucket.remove(object);
    await index.forgetUnnamed([object]);
  }

  async function removeUnused(
    namespace: Namespace,
    digest: Digest,
    before: Date,
  ): Promise<boolean> {
    const object = await index.remove(namespace, digest, { before });
    if (object === undefined) return false;
    // After a failure, the object is removed with the abandoned ones.
    await removeObject(object).catch(() => {});
    return true;
  }

  // Counts what an earlier process left.
  trim();

  return {
    owner: () => readBucketOwner(bucket),
    setOwner: (farm) => bucket.put(ownerKey, Buffer.from(`${farm}\n`)),

    async open(namespace) {
      if (namespace === ownNamespace) return own;
      if (!(await index.hasNamespace(namespace))) return undefined;
      return openNamespace(namespace);
    },
    async create(namespace) {
      await index.addNamespace(namespace);
      return openNamespace(namespace);
    },
    namespaces: () => index.namespaces(),
    usage: (namespace) => index.usage(namespace),
    async remove(namespace, before) {
      if (namespace === ownNamespace) throw new Error("the default project cannot be removed");
      if (before !== undefined)
        for await (const blob of index.list(namespace))
          await removeUnused(namespace, blob.digest, before);
      await index.removeNamespace(namespace);
      return index.usage(namespace);
    },

    async sweepUploads() {
      await uploads.sweep();
      const abandoned = await index.abandoned();
      await mapAtMost(removedAtOnce, abandoned, ({ object, upload }) =>
        removeObject(object, upload),
      );
    },

    evictable: {
      list: () => index.list(),
      async look(namespace, digest) {
        if (isEmptyDigest(digest)) return { digest, lastUsedAt: new Date() };
        const found = await index.look(namespace, digest);
        return found && { digest, ...found };
      },
      removeUnused,
      // What a crashed process was removing is removed with the abandoned objects.
      async putBack() {},
    },

    // A silent bucket may take longer than the interval between questions: they share one request.
    ask: () => {
      asking ??= bucket.get(ownerKey).finally(() => {
        asking = undefined;
      });
      return asking.then(() => {});
    },

    async stop() {
      ending.abort();
      await trimming;
      bucket.close();
    },
  };
}
