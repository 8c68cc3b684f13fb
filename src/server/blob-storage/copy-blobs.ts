import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { BlobStorage } from "#cas/blob-storage.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { diskLayout } from "#cas/disk/disk-layout.ts";
import { blobsOfShard, shards } from "#cas/disk/list-blobs.ts";
import type { Namespace } from "#cas/namespaces/namespace.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";

/** Numbers of blobs. Sizes are in bytes. */
export interface CopiedBlobs {
  /** Those that the directory has. */
  readonly blobs: number;
  readonly bytes: number;
  /** Those that the storage lacked. */
  readonly copied: number;
  readonly copiedBytes: number;
  /** Those whose bytes do not match their digest, and that are not copied. */
  readonly damaged: number;
  /** Those that were removed from the directory meanwhile. */
  readonly removed: number;
}

/** A request for a small blob waits mostly for the bucket. */
const copiedAtOnce = 16;

/**
 * Copies the blobs of all projects that a directory has and a storage lacks.
 *
 * The storage checks the bytes of each blob against its digest. A copy that is interrupted goes on where it was: what
 * the storage has is not sent again. The directory is only read, and may be in use.
 */
export async function copyBlobs(
  directory: string,
  to: Pick<BlobStorage, "create">,
  onProgress: (sum: CopiedBlobs) => void,
  signal: AbortSignal,
): Promise<CopiedBlobs> {
  const sum = { blobs: 0, bytes: 0, copied: 0, copiedBytes: 0, damaged: 0, removed: 0 };
  const stores = new Map<Namespace, Promise<BlobStore>>();
  const storeOf = (namespace: Namespace) => {
    const store = stores.get(namespace) ?? to.create(namespace).then(({ blobs }) => blobs);
    stores.set(namespace, store);
    return store;
  };
  for (const shard of shards)
    for await (const some of blobsOfShard(directory, shard))
      for (const [namespace, digests] of byNamespace(some)) {
        signal.throwIfAborted();
        const store = await storeOf(namespace);
        const missing = new Set((await store.findMissing(digests)).map(digestKey));
        const lacking = digests.filter((digest) => missing.has(digestKey(digest)));
        await mapAtMost(copiedAtOnce, lacking, async (digest) => {
          const outcome = await copyOne(directory, namespace, digest, store);
          sum[outcome]++;
          if (outcome === "copied") sum.copiedBytes += digest.sizeBytes;
        });
        sum.blobs += digests.length;
        sum.bytes += digests.reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0);
        onProgress({ ...sum });
      }
  return sum;
}

function byNamespace(
  blobs: readonly { readonly namespace: Namespace; readonly digest: Digest }[],
): Map<Namespace, Digest[]> {
  const found = new Map<Namespace, Digest[]>();
  for (const { namespace, digest } of blobs)
    found.set(namespace, [...(found.get(namespace) ?? []), digest]);
  return found;
}

async function copyOne(
  directory: string,
  namespace: Namespace,
  digest: Digest,
  store: BlobStore,
): Promise<"copied" | "damaged" | "removed"> {
  const file = diskLayout(join(directory, namespace)).path(digest);
  try {
    await store.write(digest, createReadStream(file));
    return "copied";
  } catch (reason) {
    if (isCausedBy(reason, "ENOENT")) return "removed";
    // The storage refuses bytes that are not those of the digest.
    if (reason instanceof Fault && reason.code === "invalid_argument") return "damaged";
    throw reason;
  }
}

function isCausedBy(reason: unknown, code: string): boolean {
  for (let each = reason; each instanceof Error; each = each.cause)
    if ((each as NodeJS.ErrnoException).code === code) return true;
  return false;
}
