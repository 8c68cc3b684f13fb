import type { BlobStore } from "./blob-store.ts";
import { defaultTreeLimits, flattenDirectoryTree } from "./flatten-directory-tree.ts";
import { mergeTrees, type Overlay, placedAt } from "./merge-trees.ts";
import type { Subtree, TreeEntry, TreePart } from "./tree-entry.ts";

/**
 * Applies overlays to a tree like `mergeTrees`, but does not expand subtrees without overlap: a directory of 36,000
 * files that overlaps with nothing is then one part.
 *
 * The tree that is built from the parts has the same root as with full expansion.
 */
export async function layOver(
  store: BlobStore,
  base: readonly TreeEntry[],
  overlays: readonly Overlay[],
): Promise<TreePart[]> {
  const placed = overlays.map(({ at, from, entries }) => ({
    at: "",
    from,
    entries: placedAt(at, entries),
  }));
  const touched = touchedSubtrees([...base, ...placed.flatMap(({ entries }) => entries)]);
  const apart: Overlay[] = [];
  for (const overlay of placed) {
    const entries: TreePart[] = [];
    for (const part of overlay.entries) {
      const isTouched = part.kind === "subtree" && touched.has(part);
      for (const entry of isTouched ? await takenApart(store, part) : [part]) entries.push(entry);
    }
    apart.push({ ...overlay, entries });
  }
  return mergeTrees(base, apart);
}

/** Returns the subtrees that contain the path of another part, or are below one. */
function touchedSubtrees(parts: readonly TreePart[]): ReadonlySet<Subtree> {
  const touched = new Set<Subtree>();
  const byPath = new Map<string, Subtree>();
  for (const part of parts) if (part.kind === "subtree") byPath.set(part.path, part);
  if (byPath.size === 0) return touched;
  for (const part of parts) {
    for (const path of pathAndParents(part.path)) {
      const around = byPath.get(path);
      if (around === undefined || around === part) continue;
      touched.add(around);
      if (part.kind === "subtree") touched.add(part);
    }
  }
  return touched;
}

function* pathAndParents(path: string): Generator<string, void, undefined> {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    yield path.slice(0, end);
  }
}

async function takenApart(store: BlobStore, { path, digest }: Subtree): Promise<TreeEntry[]> {
  const entries = await flattenDirectoryTree(store, digest, defaultTreeLimits, { below: path });
  return entries.length === 0 ? [{ kind: "directory", path }] : placedAt(path, entries);
}
