import { type Digest, type DigestFunction, digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Directory } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import type { BlobStore } from "./blob-store.ts";
import { fromDigestMessage } from "./digest-message.ts";
import { decodeDirectory } from "./directory-message.ts";
import { joined, problemOfPath, problemOfTarget, quotePath, refuse } from "./path-rules.ts";
import { sortedByPath, type TreeEntry } from "./tree-entry.ts";

/** Limits for a tree from another party. */
export interface TreeLimits {
  /** Files, symlinks and directories, counted at each occurrence. */
  readonly maxEntries: number;
  readonly maxDepth: number;
}

export const defaultTreeLimits: TreeLimits = { maxEntries: 500_000, maxDepth: 256 };

/** Enough for 100,000 files in one directory. */
const maxDirectoryBytes = 16 * 1024 * 1024;

/**
 * The place of a tree below the root that its symlinks must not leave; `anywhere` for a tree that is only displayed.
 */
export type LinkPlace = { readonly below: string } | "anywhere";

const top: LinkPlace = { below: "" };

/**
 * Returns the entries below a root Directory, sorted by path.
 *
 * Throws `failed_precondition` when a Directory is missing, `invalid_argument` for an illegal tree,
 * `resource_exhausted` beyond the limits.
 */
export async function flattenDirectoryTree(
  store: BlobStore,
  root: Digest,
  limits: TreeLimits = defaultTreeLimits,
  at: LinkPlace = top,
): Promise<TreeEntry[]> {
  const load = async (digest: Digest): Promise<Directory> => {
    if (digest.sizeBytes > maxDirectoryBytes) {
      throw new Fault("resource_exhausted", `directory ${digestKey(digest)} is too large`);
    }
    const bytes = await store.get(digest);
    if (bytes) return decodeDirectory(bytes);
    throw new Fault("failed_precondition", `directory ${digestKey(digest)} is not in the store`);
  };
  return flattenDirectories(await load(root), functionOf(root), load, limits, at);
}

/**
 * Walks down from a directory, level by level; `load` returns a checked Directory.
 *
 * A few small messages can name each other so that the whole tree is endless, or twice as large at each level. So the
 * number of appearances counts, and it is checked before a directory is loaded.
 */
export async function flattenDirectories(
  root: Directory,
  by: DigestFunction,
  load: (digest: Digest) => Promise<Directory>,
  limits: TreeLimits,
  at: LinkPlace = top,
): Promise<TreeEntry[]> {
  const turn = takingTurns();
  const entries: TreeEntry[] = [];
  const loaded = new Map<string, Promise<Directory>>();
  const loadOnce = (digest: Digest) => {
    const key = digestKey(digest);
    const loading = loaded.get(key) ?? load(digest);
    loaded.set(key, loading);
    return loading;
  };

  await assertWithin(root, by, loadOnce, limits);
  let level: Place[] = [{ path: "", directory: root }];
  while (level.length > 0) {
    const below: { path: string; digest: Digest }[] = [];
    for (const place of level) {
      await turn();
      for (const entry of leavesOf(place, by, at)) entries.push(entry);
      for (const { name, digest } of place.directory.directories) {
        const path = legal(joined(place.path, name));
        below.push({ path, digest: fromDigestMessage(digest, quotePath(path), by) });
      }
    }
    level = await mapAtMost(16, below, async ({ path, digest }) => ({
      path,
      directory: await loadOnce(digest),
    }));
  }
  return sortedByPath(entries);
}

/**
 * Counts a tree without expanding it: each directory once per level, with the number of its appearances.
 *
 * A tree that doubles at each level then costs only its messages.
 */
async function assertWithin(
  root: Directory,
  by: DigestFunction,
  load: (digest: Digest) => Promise<Directory>,
  { maxEntries, maxDepth }: TreeLimits,
): Promise<void> {
  const turn = takingTurns();
  let entries = 0;
  let level = [{ directory: root, times: 1 }];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) throw exceeded(`is deeper than ${maxDepth} directories`);
    const below = new Map<string, { readonly digest: Digest; times: number }>();
    for (const { directory, times } of level) {
      const { files, directories, symlinks } = directory;
      await turn();
      entries += times * (files.length + directories.length + symlinks.length);
      if (entries > maxEntries) throw exceeded(`has more than ${maxEntries} entries`);
      for (const { name, digest: message } of directories) {
        const digest = fromDigestMessage(message, quotePath(name), by);
        const key = digestKey(digest);
        const found = below.get(key) ?? { digest, times: 0 };
        found.times += times;
        below.set(key, found);
      }
    }
    level = await mapAtMost(16, [...below.values()], async ({ digest, times }) => ({
      directory: await load(digest),
      times,
    }));
  }
}

interface Place {
  readonly path: string;
  readonly directory: Directory;
}

function leavesOf(
  { path: at, directory }: Place,
  by: DigestFunction,
  links: LinkPlace,
): TreeEntry[] {
  const { files, directories, symlinks } = directory;
  const isEmpty = files.length + directories.length + symlinks.length === 0;
  if (isEmpty) return at === "" ? [] : [{ kind: "directory", path: at }];
  return [
    ...files.map(({ name, digest, isExecutable }): TreeEntry => {
      const path = legal(joined(at, name));
      return {
        kind: "file",
        path,
        digest: fromDigestMessage(digest, quotePath(path), by),
        executable: isExecutable,
      };
    }),
    ...symlinks.map(({ name, target }): TreeEntry => {
      const path = legal(joined(at, name));
      if (links !== "anywhere") refuse(path, problemOfTarget(joined(links.below, path), target));
      return { kind: "symlink", path, target };
    }),
  ];
}

function legal(path: string): string {
  refuse(path, problemOfPath(path));
  return path;
}

function exceeded(how: string): Fault {
  return new Fault("resource_exhausted", `the tree ${how}`);
}
