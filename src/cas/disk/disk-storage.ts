import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BlobStorage, NamespaceStorage } from "../blob-storage.ts";
import { type Namespace, ownNamespace } from "../namespaces/namespace.ts";
import { type DiskBlobStore, openDiskBlobStore } from "./disk-blob-store.ts";
import { diskFault, errnoOf } from "./disk-fault.ts";
import { diskScrub } from "./disk-scrub.ts";
import { openDiskUploads } from "./disk-uploads.ts";
import { openNamespacedEviction } from "./namespaced-eviction.ts";
import { namespacesIn } from "./namespaces-in.ts";
import { removeNamespace, usageOfNamespace } from "./remove-namespace.ts";
import { readStoreOwner, writeStoreOwner } from "./store-owner.ts";
import { syncFileSystem } from "./sync-file-system.ts";
import { syncTogether } from "./sync-together.ts";

/** Each removal that collides with the creation of a directory costs one attempt. */
const mostAttempts = 10;

/**
 * Opens blobs in one directory: those of the default project at the top, as before, and those of each namespace in
 * their own store below. All share the directories of temporary files and of interrupted uploads.
 */
export async function openDiskStorage(
  directory: string,
  isDurable: boolean = false,
): Promise<BlobStorage> {
  await mkdir(directory, { recursive: true });
  const durable = isDurable ? syncTogether(syncFileSystem(directory)) : undefined;
  const ownDisk = await openDiskBlobStore(directory, { durable });
  const uploads = await openDiskUploads(directory, ownDisk);
  const storageOn = (disk: DiskBlobStore): NamespaceStorage => ({
    blobs: disk,
    uploads: uploads.into(disk),
    unnamed: disk,
  });
  const own = storageOn(ownDisk);
  const directoryOf = (namespace: Namespace) => join(directory, namespace);

  const openNamespace = async (namespace: Namespace) =>
    storageOn(
      await openDiskBlobStore(directoryOf(namespace), { sharedTemp: ownDisk.temp, durable }),
    );

  async function isThere(namespace: Namespace): Promise<boolean> {
    return stat(directoryOf(namespace)).then(
      () => true,
      (reason: unknown) => {
        if (errnoOf(reason) === "ENOENT") return false;
        throw diskFault(reason, directory);
      },
    );
  }

  return {
    owner: () => readStoreOwner(directory),
    setOwner: (farm) => writeStoreOwner(directory, farm),
    async open(namespace) {
      if (namespace === ownNamespace) return own;
      if (!(await isThere(namespace))) return undefined;
      return openNamespace(namespace);
    },
    async create(namespace) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await openNamespace(namespace);
        } catch (reason) {
          // Its directory may be removed while it is being made.
          if (!isGone(reason) || attempt === mostAttempts) throw reason;
        }
      }
    },
    namespaces: () => namespacesIn(directory),
    usage: (namespace) => usageOfNamespace(directory, namespace),
    remove: (namespace, before) => removeNamespace(directory, namespace, before),
    sweepUploads: () => uploads.sweep(),
    evictable: await openNamespacedEviction(directory),
    scrub: diskScrub(directory),
    async stop() {},
  };
}

function isGone(reason: unknown): boolean {
  return errnoOf(reason instanceof Error && reason.cause ? reason.cause : reason) === "ENOENT";
}
