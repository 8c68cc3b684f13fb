import type { Digest } from "#core/digest.ts";
import type { NodeProperties } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/**
 * An entry in a tree of files, by its path from the root, such as `src/a.ts`.
 *
 * Properties are times and modes, if they were requested.
 *
 * Directories exist through their contents; only an empty one is an entry itself.
 */
export type TreeEntry =
  | {
      readonly kind: "file";
      readonly path: string;
      readonly digest: Digest;
      readonly executable: boolean;
      readonly properties?: NodeProperties;
    }
  | {
      readonly kind: "symlink";
      readonly path: string;
      readonly target: string;
      readonly properties?: NodeProperties;
    }
  | { readonly kind: "directory"; readonly path: string };

/**
 * A whole directory at a path, represented by its root Directory. All its Directories are in the store, so a tree can
 * be built around it without reading them.
 */
export interface Subtree {
  readonly kind: "subtree";
  readonly path: string;
  readonly digest: Digest;
}

/** The input for building a tree. Reading a tree returns no subtrees, but directories. */
export type TreePart = TreeEntry | Subtree;

/**
 * The order of REv2: by code point, which is by UTF-8 byte.
 *
 * JavaScript's `<` compares UTF-16 units and puts U+1F600 before U+FF5E. The two orders differ only for surrogates.
 */
export function compareByCodePoint(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
  }
  return a.length - b.length;
}

export function sortedByPath<Entry extends { readonly path: string }>(
  entries: readonly Entry[],
): Entry[] {
  return entries.toSorted((a, b) => compareByCodePoint(a.path, b.path));
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
