import { digestKey } from "#core/digest.ts";
import type { WantedFile } from "../local-store.ts";
import type { InputDirectory } from "./input-directory.ts";

/** The files of a tree, each once, wherever it appears. */
export function filesBelow(root: InputDirectory): WantedFile[] {
  const files = new Map<string, WantedFile>();
  const seen = new Set<InputDirectory>([root]);
  // Adding to the set while it is iterated is intended: subtrees that appear several times are visited once.
  for (const directory of seen) {
    for (const { digest, executable } of directory.files)
      files.set(`${digestKey(digest)}${executable}`, { digest, executable });
    for (const child of directory.directories) seen.add(child.directory);
  }
  return [...files.values()];
}
