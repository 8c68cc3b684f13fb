import { digestKey } from "#core/digest.ts";
import { refuse } from "./path-rules.ts";
import { sortedByPath, type TreePart } from "./tree-entry.ts";

/** Entries that are applied over a tree. */
export interface Overlay {
  /** The directory for the entries; "" for the root. */
  readonly at: string;
  /** Their source, for messages about conflicts: `job "build"`. */
  readonly from: string;
  readonly entries: readonly TreePart[];
}

/**
 * Applies overlays to a tree: outputs of other jobs over the files of a commit.
 *
 * An overlay replaces the tree below it. Two overlays with different content at one path are refused with
 * `invalid_argument`: the winner would depend only on their order. A path that is both file and directory is refused
 * when the tree is built. Subtrees are compared as a whole; overlapping ones were expanded before (`layOver`).
 */
export function mergeTrees(base: readonly TreePart[], overlays: readonly Overlay[]): TreePart[] {
  const merged = new Map(base.map((entry) => [entry.path, entry]));
  const broughtBy = new Map<string, string>();
  for (const { at, from, entries } of overlays) {
    for (const entry of placedAt(at, entries)) {
      const other = broughtBy.get(entry.path);
      const there = merged.get(entry.path);
      if (other !== undefined && there && !areEqual(there, entry)) {
        refuse(entry.path, `comes from ${other} and, with other content, from ${from}`);
      }
      merged.set(entry.path, entry);
      broughtBy.set(entry.path, from);
    }
  }
  return sortedByPath([...merged.values()]);
}

/** Returns the entries with the path of their directory prepended. */
export function placedAt<Part extends TreePart>(at: string, entries: readonly Part[]): Part[] {
  return at === "" ? [...entries] : entries.map((e) => ({ ...e, path: `${at}/${e.path}` }));
}

function areEqual(a: TreePart, b: TreePart): boolean {
  switch (a.kind) {
    case "file":
      return (
        b.kind === "file" &&
        digestKey(a.digest) === digestKey(b.digest) &&
        a.executable === b.executable
      );
    case "symlink":
      return b.kind === "symlink" && a.target === b.target;
    case "directory":
      return b.kind === "directory";
    case "subtree":
      return b.kind === "subtree" && digestKey(a.digest) === digestKey(b.digest);
  }
}
