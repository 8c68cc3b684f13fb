import { digestOf } from "#cas/digest-of.ts";
import type { CommitEntry } from "#git/commit-tree.ts";

/** Returns a digest of files without reading them: Git's ids name their content. */
export function nameOfFiles(entries: readonly CommitEntry[]): string {
  const text = entries.map(
    ({ kind, path, gitId, executable }) => `${kind[0]}${executable ? "x" : "-"}${gitId}\t${path}\0`,
  );
  return digestOf(new TextEncoder().encode(text.join(""))).hash;
}

/** Names files by their paths alone, whatever is in them. */
export function nameOfPaths(entries: readonly Pick<CommitEntry, "path">[]): string {
  const text = entries.map(({ path }) => `${path}\0`).join("");
  return digestOf(new TextEncoder().encode(text)).hash;
}
