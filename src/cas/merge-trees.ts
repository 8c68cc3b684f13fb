import { digestKey } from "#core/digest.ts";
import { refuse } from "./path-rules.ts";
import { sortedByPath, type TreePart } from "./tree-entry.ts";

/** Entries to be laid over a tree. */
export interface Overlay {
  /** The directory that they are put into; "" for the root. */
  readonly at: string;
  /** Where they come from, for the message about a conflict: `job "build"`. */
  readonly from: string;
  readonly entries: readonly TreePart[];
}

/**
 * Lays overlays over a tree: outputs of other jobs over the files of a commit.
 *
 * An overlay replaces the tree below it. Two overlays with different content at one path are refused with
 * `invalid_argument`: which one wins would depend only on their order. A path that is both file and directory is
 * refused when the tree is built. Subtrees are compared as a whole: those that overlap with others are taken apart
 * before (`layOver`).
 */
export function mergeTrees(base: readonly TreePart[], overlays: readonly Overlay[]): TreePart[] {
  const merged = new Map(base.map((entry) => [entry.path, entry]));
  const broughtBy = new Map<string, string>();
  for (const { at, from, entries } of overlays) {
    for (const entry of placedAt(at, entries)) {
      const other = broughtBy.get(entry.path);
      const there = merged.get(entry.path);
      if (other !== undefined && there && !areEqual(there, entry)) {
        refuse(entry.path, `comes from ${other} and, different, from ${from}`);
      }
      merged.set(entry.path, entry);
      broughtBy.set(entry.path, from);
    }
  }
  return sortedByPath([...merged.values()]);
}

/** The entries with their paths seen from above the directory that they are put into. */
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
