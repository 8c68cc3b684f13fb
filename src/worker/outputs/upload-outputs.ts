import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { uploadDirectories } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { mapAtMost } from "#cas/map-at-most.ts";
import { encodeTree } from "#cas/tree-message.ts";
import { type Digest, digestKey, functionOf, isEmptyDigest } from "#core/digest.ts";
import {
  type ActionResult,
  Command_OutputDirectoryFormat,
  type NodeProperties,
  OutputDirectorySchema,
  OutputFileSchema,
  OutputSymlinkSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Patience } from "../patience.ts";
import type { CollectedOutputs } from "./collect-outputs.ts";

/** Blobs up to this size are read whole before they are sent. */
const wholeUpToBytes = 1024 * 1024;

/** Bytes to upload: in hand, or in a file. */
export type Upload = { readonly digest: Digest } & (
  | { readonly bytes: Uint8Array }
  | { readonly path: string }
);

/** Uploads what the farm does not have, each once. */
export async function uploadMissing(
  farm: BlobStore,
  uploads: readonly Upload[],
  patience: Patience,
): Promise<void> {
  const some = uploads.filter(({ digest }) => !isEmptyDigest(digest));
  const byKey = new Map(some.map((upload) => [digestKey(upload.digest), upload]));
  if (byKey.size === 0) return;
  const digests = [...byKey.values()].map(({ digest }) => digest);
  const missing = await patience.persistently(() => farm.findMissing(digests));
  await mapAtMost(8, missing, async (digest) => {
    const upload = byKey.get(digestKey(digest));
    if (upload === undefined) return;
    await patience.persistently(async () => {
      if ("bytes" in upload) return farm.put(digest, upload.bytes);
      if (digest.sizeBytes <= wholeUpToBytes) return farm.put(digest, await readFile(upload.path));
      return farm.write(digest, createReadStream(upload.path, { highWaterMark: 256 * 1024 }));
    });
  });
}

/** Uploads outputs, and enters them into the result. */
export async function publishOutputs(
  root: string,
  { outputs, files }: CollectedOutputs,
  format: Command_OutputDirectoryFormat,
  farm: BlobStore,
  patience: Patience,
  result: ActionResult,
): Promise<void> {
  const uploads: Upload[] = files.map(({ at, digest }) => ({ digest, path: join(root, at) }));
  for (const output of outputs) {
    switch (output.kind) {
      case "file":
        result.outputFiles.push(
          create(OutputFileSchema, {
            path: output.path,
            digest: toDigestMessage(output.digest),
            isExecutable: output.executable,
            ...nodeProperties(output),
          }),
        );
        break;
      case "symlink": {
        const { path, target, oldKind } = output;
        const link = create(OutputSymlinkSchema, { path, target, ...nodeProperties(output) });
        result.outputSymlinks.push(link);
        if (oldKind === "file") result.outputFileSymlinks.push(link);
        if (oldKind === "directory") result.outputDirectorySymlinks.push(link);
        break;
      }
      case "directory": {
        const bytes = encodeTree(output.tree);
        const digest = digestOf(bytes, functionOf(output.tree.root.digest));
        uploads.push({ digest, bytes });
        const directory = create(OutputDirectorySchema, {
          path: output.path,
          treeDigest: toDigestMessage(digest),
          // Parents stand before their children, as encodeTree writes them.
          isTopologicallySorted: true,
        });
        if (format !== Command_OutputDirectoryFormat.TREE_ONLY) {
          const rootDigest = await patience.persistently(() =>
            uploadDirectories(farm, output.tree),
          );
          directory.rootDirectoryDigest = toDigestMessage(rootDigest);
        }
        result.outputDirectories.push(directory);
        break;
      }
    }
  }
  await uploadMissing(farm, uploads, patience);
}

function nodeProperties({ properties }: { readonly properties?: NodeProperties }) {
  return properties === undefined ? {} : { nodeProperties: properties };
}
