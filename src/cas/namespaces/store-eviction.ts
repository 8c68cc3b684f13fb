import { join } from "node:path";
import type { Digest } from "#core/digest.ts";
import { type DiskEviction, openDiskEviction } from "../disk-eviction.ts";
import type { StoredBlob } from "../disk-usage.ts";
import { type Namespace, ownNamespace } from "./namespace.ts";
import { namespacesIn } from "./namespaces-in.ts";

/** A blob of some project's. */
export interface NamespacedBlob extends StoredBlob {
  readonly namespace: Namespace;
}

/** The blobs of all projects in one directory, as whoever makes room in it sees them. */
export interface StoreEviction {
  /** Every blob, in no order, while others come and go. */
  list(): AsyncIterable<NamespacedBlob>;
  look(namespace: Namespace, digest: Digest): Promise<StoredBlob | undefined>;
  removeUnused(namespace: Namespace, digest: Digest, before: Date): Promise<boolean>;
  putBack(): Promise<void>;
}

/** Like `openDiskEviction`, for the directory of `openProjectBlobs`. Namespaces that come to be later are seen, too. */
export async function openStoreEviction(directory: string): Promise<StoreEviction> {
  const open = new Map([[ownNamespace, await openDiskEviction(directory)]]);

  /** Undefined where there is none; it is not made by looking. */
  async function evictionOf(namespace: Namespace): Promise<DiskEviction | undefined> {
    const known = open.get(namespace);
    if (known !== undefined) return known;
    if (!(await namespaces()).includes(namespace)) return undefined;
    const opened = await openDiskEviction(join(directory, namespace));
    open.set(namespace, opened);
    return opened;
  }

  const namespaces = async () => [ownNamespace, ...(await namespacesIn(directory))];

  return {
    async *list() {
      for (const namespace of await namespaces()) {
        const blobs = (await evictionOf(namespace))?.list() ?? [];
        for await (const blob of blobs) yield { ...blob, namespace };
      }
    },
    look: async (namespace, digest) => (await evictionOf(namespace))?.look(digest),
    removeUnused: async (namespace, digest, before) =>
      (await (await evictionOf(namespace))?.removeUnused(digest, before)) ?? false,
    async putBack() {
      for (const namespace of await namespaces()) await (await evictionOf(namespace))?.putBack();
    },
  };
}
