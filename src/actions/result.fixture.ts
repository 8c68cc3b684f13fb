import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { buildDirectoryTree } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { encodeTree } from "#cas/tree-message.ts";
import type { Digest } from "#core/digest.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

export function resultWith(init: MessageInitShape<typeof ActionResultSchema>): ActionResult {
  return create(ActionResultSchema, init);
}

async function putText(store: BlobStore, text: string): Promise<Digest> {
  const bytes = Buffer.from(text);
  await store.put(digestOf(bytes), bytes);
  return digestOf(bytes);
}

/** Returns a result with a file, a directory of two files and a link, a symlink, and stdout; all are stored. */
export async function storedResult(store: BlobStore) {
  const blobs = {
    file: await putText(store, "file"),
    inner: await putText(store, "inner"),
    deep: await putText(store, "deep"),
    stdout: await putText(store, "stdout"),
  };
  const entries: TreeEntry[] = [
    { kind: "file", path: "inner", digest: blobs.inner, executable: true },
    { kind: "file", path: "deep/er/file", digest: blobs.deep, executable: false },
    { kind: "symlink", path: "deep/link", target: "../inner" },
  ];
  const tree = encodeTree(buildDirectoryTree(entries));
  await store.put(digestOf(tree), tree);
  const result = resultWith({
    outputFiles: [{ path: "out/file", digest: toDigestMessage(blobs.file), isExecutable: true }],
    outputDirectories: [{ path: "dist", treeDigest: toDigestMessage(digestOf(tree)) }],
    outputSymlinks: [{ path: "latest", target: "dist/inner" }],
    stdoutDigest: toDigestMessage(blobs.stdout),
  });
  return { result, entries, blobs: { ...blobs, tree: digestOf(tree) } };
}
