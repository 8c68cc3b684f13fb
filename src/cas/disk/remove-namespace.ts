import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isEmptyDigest } from "#core/digest.ts";
import type { NamespaceUsage } from "../blob-storage.ts";
import { type Namespace, ownNamespace } from "../namespaces/namespace.ts";
import { openDiskEviction } from "./disk-eviction.ts";
import { diskFault, errnoOf } from "./disk-fault.ts";
import { diskLayout } from "./disk-layout.ts";
import { storedBlobs } from "./disk-usage.ts";

/** Counts every file, so it is for an operator's command and not for a loop. */
export async function usageOfNamespace(
  directory: string,
  namespace: Namespace,
): Promise<NamespaceUsage> {
  let blobs = 0;
  let bytes = 0;
  try {
    for await (const { digest } of storedBlobs(diskLayout(join(directory, namespace)).blobs)) {
      if (isEmptyDigest(digest)) continue;
      blobs++;
      bytes += digest.sizeBytes;
    }
  } catch (reason) {
    if (errnoOf(reason) !== "ENOENT") throw diskFault(reason, directory);
  }
  return { blobs, bytes };
}

/**
 * Removes the blobs of a namespace that were not used since `before`, if given; then its directory, if it is empty.
 * Returns what remains: 0 blobs when the directory is gone.
 *
 * A blob that arrives meanwhile is kept: the directory is first moved away, and blobs found in it then are put back.
 * For a moment readers may not find such a blob.
 */
export async function removeNamespace(
  directory: string,
  namespace: Namespace,
  before: Date | undefined,
): Promise<NamespaceUsage> {
  if (namespace === ownNamespace) throw new Error("the default project's directory is the store's");
  const at = join(directory, namespace);
  if (before !== undefined) {
    const eviction = await openDiskEviction(at);
    for await (const { digest } of eviction.list()) await eviction.removeUnused(digest, before);
  }
  const left = await usageOfNamespace(directory, namespace);
  if (left.blobs > 0) return left;
  try {
    // On the same file system; files that a crashed process leaves there are removed at the next start.
    const aside = join(await mkdtemp(join(diskLayout(directory).temp, "project-")), "gone");
    await rename(at, aside);
    await putBackBlobs(aside, at);
    await rm(dirname(aside), { recursive: true, force: true });
  } catch (reason) {
    if (errnoOf(reason) !== "ENOENT") throw diskFault(reason, directory);
  }
  return usageOfNamespace(directory, namespace);
}

async function putBackBlobs(from: string, to: string): Promise<void> {
  const [aside, here] = [diskLayout(from), diskLayout(to)];
  for await (const { digest } of storedBlobs(aside.blobs)) {
    if (isEmptyDigest(digest)) continue;
    await mkdir(dirname(here.path(digest)), { recursive: true });
    await rename(aside.path(digest), here.path(digest));
  }
}
