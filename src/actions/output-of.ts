import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { placedAt } from "#cas/merge-trees.ts";
import { assertLegalPath, quotePath } from "#cas/path-rules.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { flattenTree } from "#cas/tree-message.ts";
import { digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type {
  ActionResult,
  OutputDirectory,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { fetchTree, treeDigestOf } from "./output-tree.ts";
import { outputSymlinksOf } from "./result-paths.ts";

/**
 * Returns the content of a result at a path as tree entries placed at `at`: a file, a symlink, a directory, or an entry
 * inside an output directory. Returns undefined when there is nothing. The result is one of a job of a graph, so its
 * digests are SHA-256.
 *
 * Throws `failed_precondition` when the Tree of the directory is not in the store.
 */
export async function outputOf(
  store: BlobStore,
  result: ActionResult,
  path: string,
  at: string = path,
): Promise<TreeEntry[] | undefined> {
  assertLegalPath(path);
  assertLegalPath(at);
  const file = result.outputFiles.find((output) => output.path === path);
  if (file) {
    const digest = fromDigestMessage(file.digest, quotePath(path), "sha256");
    return [{ kind: "file", path: at, digest, executable: file.isExecutable }];
  }
  const link = outputSymlinksOf(result).find((output) => output.path === path);
  if (link) return [{ kind: "symlink", path: at, target: link.target }];

  for (const directory of result.outputDirectories) {
    const inside = pathWithin(directory.path, path);
    if (inside === undefined) continue;
    const found = insideOf(await entriesOf(store, directory), inside);
    if (found) return found.map((entry) => moved(entry, at));
  }
  return undefined;
}

/**
 * Returns the output directory at a path, when the path contains no other output of the result: `outputOf` then returns
 * its whole Tree.
 */
export function wholeDirectoryAt(result: ActionResult, path: string): OutputDirectory | undefined {
  const directories = result.outputDirectories.filter(
    (directory) => pathWithin(directory.path, path) !== undefined,
  );
  const leaves = [...result.outputFiles, ...outputSymlinksOf(result)];
  const [only, ...others] = directories;
  const isAlone = others.length === 0 && !leaves.some((leaf) => leaf.path === path);
  return isAlone && only?.path === path ? only : undefined;
}

async function entriesOf(store: BlobStore, directory: OutputDirectory): Promise<TreeEntry[]> {
  const digest = treeDigestOf(directory);
  const tree = await fetchTree(store, digest);
  if (tree) return flattenTree(tree, functionOf(digest), { below: directory.path });
  throw new Fault("failed_precondition", `tree ${digestKey(digest)} is not in the store`);
}

/** Returns a path relative to a directory: "" for the directory itself, undefined when the path is outside. */
function pathWithin(directory: string, path: string): string | undefined {
  if (directory === "") return path;
  if (path === directory) return "";
  return path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : undefined;
}

/** Returns the part of a tree at a path, with paths relative to it; the entry at the path itself has the path "". */
function insideOf(entries: readonly TreeEntry[], inside: string): TreeEntry[] | undefined {
  if (inside === "") {
    return entries.length > 0 ? [...entries] : [{ kind: "directory", path: "" }];
  }
  const found = entries.flatMap((entry) => {
    const path = pathWithin(inside, entry.path);
    return path === undefined ? [] : [{ ...entry, path }];
  });
  return found.length > 0 ? found : undefined;
}

function moved(entry: TreeEntry, at: string): TreeEntry {
  return entry.path === "" ? { ...entry, path: at } : (placedAt(at, [entry])[0] ?? entry);
}
