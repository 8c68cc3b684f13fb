import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { outputOf } from "#actions/output-of.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { buildDirectoryTree } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { mergeTrees, type Overlay } from "#cas/merge-trees.ts";
import type { TreePart } from "#cas/tree-entry.ts";
import { encodeTree } from "#cas/tree-message.ts";
import {
  type ActionResult,
  ActionResultSchema,
  type OutputDirectory,
  OutputDirectorySchema,
  OutputFileSchema,
  OutputSymlinkSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** The result of a batch: an REv2 ActionResult, binary. */
interface BatchResult {
  readonly number: number;
  readonly result: Uint8Array;
}

/**
 * Returns one result with the outputs of all batches, as if one action had made them. Puts merged directories into the
 * store.
 *
 * Each batch may add files of its own to a directory. A path that two of them made differently is refused with
 * `invalid_argument`, because the winner would depend on their order.
 */
export async function mergeResults(
  store: BlobStore,
  batches: readonly BatchResult[],
  outputs: readonly string[],
): Promise<Uint8Array> {
  const results = batches.map(({ number, result }) => ({
    number,
    result: fromBinary(ActionResultSchema, result),
  }));
  const merged = create(ActionResultSchema, { exitCode: 0 });
  for (const path of new Set(outputs)) {
    const overlays: Overlay[] = [];
    for (const { number, result } of results) {
      const entries = await outputOf(store, result, path);
      if (entries !== undefined) overlays.push({ at: "", from: `batch ${number}`, entries });
    }
    const parts = mergeTrees([], overlays);
    const [only] = parts;
    if (only === undefined) continue;
    if (parts.length === 1 && only.path === path && only.kind !== "directory")
      addLeaf(merged, only);
    else merged.outputDirectories.push(await storeDirectory(store, path, parts));
  }
  return toBinary(ActionResultSchema, merged);
}

function addLeaf(merged: ActionResult, leaf: TreePart): void {
  const { path } = leaf;
  if (leaf.kind === "symlink") {
    merged.outputSymlinks.push(create(OutputSymlinkSchema, { path, target: leaf.target }));
  } else if (leaf.kind === "file") {
    const digest = toDigestMessage(leaf.digest);
    const isExecutable = leaf.executable;
    merged.outputFiles.push(create(OutputFileSchema, { path, digest, isExecutable }));
  }
}

async function storeDirectory(
  store: BlobStore,
  path: string,
  parts: readonly TreePart[],
): Promise<OutputDirectory> {
  // `at` is relative to the directory. An empty directory is itself an entry.
  const within = parts
    .filter((part) => part.path !== path)
    .map((part) => ({ ...part, path: part.path.slice(path.length + 1) }));
  const bytes = encodeTree(buildDirectoryTree(within, "sha256", path));
  const digest = digestOf(bytes);
  await store.put(digest, bytes);
  return create(OutputDirectorySchema, { path, treeDigest: toDigestMessage(digest) });
}
