import type { BlobStore } from "#cas/blob-store.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { Fault } from "#core/fault.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { CommitEntry } from "../commit-tree.ts";
import { readObjects } from "../read-objects.ts";
import type { Git } from "../run-git.ts";
import { fetchLfsObjects } from "./lfs-server.ts";
import { type LfsObject, leastPointerBytes, mostPointerBytes, parsePointer } from "./pointer.ts";

interface LfsServices {
  readonly git: Git;
  readonly store: BlobStore;
  /**
   * The LFS server in the commit's own configuration, which is not contacted; read only for the message when an object
   * is missing.
   */
  readonly namedServer?: (() => Promise<string | undefined>) | undefined;
}

/** The highest number of files that a failure names. */
const mostNamed = 5;

/** Returns whether a commit uses Git LFS, according to any of its `.gitattributes`. */
export async function usesLfs(
  git: Git,
  mirror: string,
  entries: readonly CommitEntry[],
): Promise<boolean> {
  const ids = entries
    .filter(({ kind, path }) => kind === "file" && /(^|\/)\.gitattributes$/.test(path))
    .map(({ gitId }) => gitId);
  for await (const object of readObjects(git, mirror, [...new Set(ids)])) {
    if (object.sizeBytes > 1024 * 1024) continue;
    if (/\bfilter=lfs\b/.test((await object.take()).toString("latin1"))) return true;
  }
  return false;
}

/**
 * Replaces pointers by the files that Git LFS keeps; throws a `Fault` that names the files whose content is
 * unavailable. The objects are in the store afterwards.
 *
 * A pointer names the content by SHA-256 and size, which are the digest in the job's inputs.
 */
export async function replacePointers(
  { git, store, namedServer }: LfsServices,
  repository: string,
  entries: readonly TreeEntry[],
): Promise<readonly TreeEntry[]> {
  const small = entries.filter(
    (entry) =>
      entry.kind === "file" &&
      entry.digest.sizeBytes >= leastPointerBytes &&
      entry.digest.sizeBytes <= mostPointerBytes,
  );
  const objects = new Map<string, LfsObject>();
  await mapAtMost(16, small, async (entry) => {
    if (entry.kind !== "file") return;
    const object = parsePointer((await store.get(entry.digest)) ?? new Uint8Array());
    if (object !== undefined) objects.set(entry.path, object);
  });
  if (objects.size === 0) return entries;
  try {
    await fetchLfsObjects({ git, store }, repository, [...objects.values()]);
  } catch (reason) {
    const paths = [...objects.keys()];
    const more = paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : "";
    const named = `${paths.slice(0, mostNamed).join(", ")}${more}`;
    const fault = Fault.from(reason, `inputs: ${named} kept by Git LFS`);
    const elsewhere = await namedServer?.();
    const other =
      elsewhere === undefined
        ? ""
        : `; its .lfsconfig names ${elsewhere}, which the farm does not use: store the objects on the repository's own LFS server`;
    // The author can choose to use the pointers themselves.
    throw new Fault(
      fault.code,
      `${fault.message}${other}; "lfs: false" reads the pointers instead`,
      {
        cause: reason,
      },
    );
  }
  return entries.map((entry) => {
    const object = objects.get(entry.path);
    return entry.kind === "file" && object !== undefined ? { ...entry, digest: object } : entry;
  });
}
