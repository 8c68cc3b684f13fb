import { join } from "node:path";
import type { Evictable } from "../evictable.ts";
import { type Namespace, ownNamespace } from "../namespaces/namespace.ts";
import { type DiskEviction, openDiskEviction } from "./disk-eviction.ts";
import { namespacesIn } from "./namespaces-in.ts";

/** Like `openDiskEviction`, for all namespaces of a directory, including later ones. */
export async function openNamespacedEviction(directory: string): Promise<Evictable> {
  const open = new Map([[ownNamespace, await openDiskEviction(directory)]]);

  /** Returns undefined when it does not exist, and does not create it. */
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
