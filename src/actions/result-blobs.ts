import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { encodeDirectory } from "#cas/directory-message.ts";
import { mapAtMost } from "#cas/map-at-most.ts";
import { quotePath } from "#cas/path-rules.ts";
import { flattenTree } from "#cas/tree-message.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type {
  ActionResult,
  OutputDirectory,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { fetchTree, treeDigestOf } from "./output-tree.ts";

/** Trees fetched at once; each may be large. */
const treesAtOnce = 4;

/**
 * Every blob that a result refers to: output files, Trees and all files in them,
 * stdout and stderr. Of a Tree that is not in the store, only itself.
 *
 * Throws `invalid_argument` when the result or a Tree is malformed.
 */
export async function blobsOfResult(store: BlobStore, result: ActionResult): Promise<Digest[]> {
  const inTrees = await mapAtMost(treesAtOnce, result.outputDirectories, (directory) =>
    blobsOfDirectory(store, directory),
  );
  const all = [
    ...result.outputFiles.map(({ path, digest }) => fromDigestMessage(digest, quotePath(path))),
    ...inTrees.flat(),
    ...(result.stdoutDigest ? [fromDigestMessage(result.stdoutDigest, "stdout")] : []),
    ...(result.stderrDigest ? [fromDigestMessage(result.stderrDigest, "stderr")] : []),
  ];
  return [...new Map(all.map((digest) => [digestKey(digest), digest])).values()];
}

/** Those blobs of a result that are not in the store; none when it is complete. */
export async function missingBlobsOf(store: BlobStore, result: ActionResult): Promise<Digest[]> {
  return store.findMissing(await blobsOfResult(store, result));
}

async function blobsOfDirectory(store: BlobStore, directory: OutputDirectory): Promise<Digest[]> {
  const digest = treeDigestOf(directory);
  const tree = await fetchTree(store, digest);
  if (tree === undefined) return [digest];
  const entries = await flattenTree(tree);
  const files = entries.flatMap((entry) => (entry.kind === "file" ? [entry.digest] : []));
  if (directory.rootDirectoryDigest === undefined) return [digest, ...files];
  // Then the reader was told that it may walk the directories one by one.
  const directories = [...(tree.root ? [tree.root] : []), ...tree.children];
  const root = fromDigestMessage(directory.rootDirectoryDigest, quotePath(directory.path));
  return [digest, root, ...directories.map((d) => encodeDirectory(d).digest), ...files];
}
