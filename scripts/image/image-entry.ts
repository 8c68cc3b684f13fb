/** The user of the image: no user of a distribution has this number. */
export const imageUser = 65_532;

/** A file, link or directory of a layer. `path` is relative to the root of the image and has no slash at its ends. */
export type ImageEntry =
  | {
      readonly kind: "directory";
      readonly path: string;
      readonly mode: number;
      readonly owner: number;
    }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  | {
      readonly kind: "file";
      readonly path: string;
      readonly content: Buffer | { readonly from: string };
      readonly executable: boolean;
    };

/**
 * Returns the entries sorted by path, each path once, with all directories above them that are missing.
 *
 * The order of a directory on this machine has no effect on the result. Throws for a path with two meanings.
 */
export function orderedEntries(entries: readonly ImageEntry[]): ImageEntry[] {
  const byPath = new Map<string, ImageEntry>();
  for (const entry of entries) {
    const earlier = byPath.get(entry.path);
    if (earlier !== undefined && earlier.kind !== entry.kind)
      throw new Error(`/${entry.path} is a ${earlier.kind} and a ${entry.kind} in one layer`);
    if (earlier === undefined) byPath.set(entry.path, entry);
  }
  for (const path of Array.from(byPath.keys()))
    for (const above of directoriesAbove(path))
      if (!byPath.has(above))
        byPath.set(above, { kind: "directory", path: above, mode: 0o755, owner: 0 });
  return [...byPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function directoriesAbove(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
