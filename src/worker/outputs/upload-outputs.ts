import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { uploadDirectories } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { encodeTree } from "#cas/tree-message.ts";
import { type Digest, digestKey, functionOf, isEmptyDigest } from "#core/digest.ts";
import { untilAborted } from "#core/until-aborted.ts";
import {
  type ActionResult,
  ActionResultSchema,
  Command_OutputDirectoryFormat,
  type NodeProperties,
  OutputDirectorySchema,
  OutputFileSchema,
  OutputSymlinkSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { RetryWindow } from "../retry-window.ts";
import type { CollectedOutputs } from "./collect-outputs.ts";

/** Blobs up to this size are read as a whole before they are sent. */
const wholeUpToBytes = 1024 * 1024;

/** Bytes to upload: in memory, or in a file. */
export type Upload = { readonly digest: Digest } & (
  | { readonly bytes: Uint8Array }
  | { readonly path: string }
);

/** The target of uploads, and the time limit for retries. */
export interface UploadTarget {
  readonly farm: BlobStore;
  readonly retryWindow: RetryWindow;
  /**
   * Ends the uploads: the call rejects at once with the signal's reason, and nothing more of a file is read. Small
   * blobs that are being sent may or may not arrive.
   */
  readonly signal?: AbortSignal;
}

/** Uploads the blobs that the farm does not have, each once. */
export async function uploadMissing(
  { farm, retryWindow, signal }: UploadTarget,
  uploads: readonly Upload[],
): Promise<void> {
  const some = uploads.filter(({ digest }) => !isEmptyDigest(digest));
  const byKey = new Map(some.map((upload) => [digestKey(upload.digest), upload]));
  if (byKey.size === 0) return;
  const digests = [...byKey.values()].map(({ digest }) => digest);
  const bytesOf = async (upload: Upload) =>
    "bytes" in upload ? upload.bytes : await readFile(upload.path);
  const send = async (upload: Upload) => {
    signal?.throwIfAborted();
    const { digest } = upload;
    if ("bytes" in upload || digest.sizeBytes <= wholeUpToBytes)
      return farm.put(digest, await bytesOf(upload));
    const chunks = createReadStream(upload.path, { highWaterMark: 256 * 1024 });
    return farm.write(digest, chunks, signal);
  };
  const sendMissing = async () => {
    const missing = await retryWindow.persistently(() => farm.findMissing(digests), signal);
    await mapAtMost(8, missing, async (digest) => {
      const upload = byKey.get(digestKey(digest));
      if (upload !== undefined) await retryWindow.persistently(() => send(upload), signal);
    });
  };
  await untilAborted(sendMissing(), signal);
}

/** Uploads outputs, and adds them to the result after all are uploaded. */
export async function publishOutputs(
  root: string,
  { outputs, files }: CollectedOutputs,
  format: Command_OutputDirectoryFormat,
  target: UploadTarget,
  result: ActionResult,
): Promise<void> {
  const { farm, retryWindow, signal } = target;
  const entered: Pick<ActionResult, (typeof outputLists)[number]> = create(ActionResultSchema);
  const uploads: Upload[] = files.map(({ at, digest }) => ({ digest, path: join(root, at) }));
  for (const output of outputs) {
    switch (output.kind) {
      case "file":
        entered.outputFiles.push(
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
        entered.outputSymlinks.push(link);
        if (oldKind === "file") entered.outputFileSymlinks.push(link);
        if (oldKind === "directory") entered.outputDirectorySymlinks.push(link);
        break;
      }
      case "directory": {
        const bytes = encodeTree(output.tree);
        const digest = digestOf(bytes, functionOf(output.tree.root.digest));
        uploads.push({ digest, bytes });
        const directory = create(OutputDirectorySchema, {
          path: output.path,
          treeDigest: toDigestMessage(digest),
          // Parents precede their children, as encodeTree writes them.
          isTopologicallySorted: true,
        });
        if (format !== Command_OutputDirectoryFormat.TREE_ONLY) {
          const rootDigest = await untilAborted(
            retryWindow.persistently(() => uploadDirectories(farm, output.tree), signal),
            signal,
          );
          directory.rootDirectoryDigest = toDigestMessage(rootDigest);
        }
        entered.outputDirectories.push(directory);
        break;
      }
    }
  }
  await uploadMissing(target, uploads);
  for (const list of outputLists) Object.assign(result, { [list]: entered[list] });
}

const outputLists = [
  "outputFiles",
  "outputSymlinks",
  "outputFileSymlinks",
  "outputDirectorySymlinks",
  "outputDirectories",
] as const;

function nodeProperties({ properties }: { readonly properties?: NodeProperties }) {
  return properties === undefined ? {} : { nodeProperties: properties };
}
