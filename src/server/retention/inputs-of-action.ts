import { fromBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  ActionSchema,
  DirectorySchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { takingTurns } from "#scheduling/take-turns.ts";

/** A larger blob is not a message that a worker would read. */
const mostMessageBytes = 16 * 1_048_576;
const readAtOnce = 8;

/** Marks a blob as held; returns whether it was held already. */
type Hold = (digest: Digest) => boolean;

/** Holds the inputs of an action that is queued or running: the action, its command, and its whole input tree. */
export async function holdInputs(blobs: BlobStore, action: Digest, hold: Hold): Promise<void> {
  if (hold(action)) return;
  const bytes = await message(blobs, action);
  const by = functionOf(action);
  const root = decoded(() => {
    const { commandDigest, inputRootDigest } = fromBinary(ActionSchema, bytes);
    if (commandDigest) hold(fromDigestMessage(commandDigest, "the command", by));
    return inputRootDigest && fromDigestMessage(inputRootDigest, "the input root", by);
  });
  if (root) await holdTree(blobs, root, hold);
}

/** The content of a held directory is held already. */
export async function holdTree(blobs: BlobStore, root: Digest, hold: Hold): Promise<void> {
  const by = functionOf(root);
  const turn = takingTurns();

  const childrenOf = async (directory: Digest): Promise<Digest[]> => {
    await turn();
    const bytes = await message(blobs, directory);
    const children: Digest[] = [];
    decoded(() => {
      const { files, directories } = fromBinary(DirectorySchema, bytes);
      for (const { digest } of files) hold(fromDigestMessage(digest, "a file", by));
      for (const { digest } of directories) {
        const child = fromDigestMessage(digest, "a directory", by);
        if (!hold(child)) children.push(child);
      }
    });
    return children;
  };

  let level = hold(root) ? [] : [root];
  while (level.length > 0) level = (await mapAtMost(readAtOnce, level, childrenOf)).flat();
}

/** Returns the bytes of a message; none when it is missing, corrupt, or too large to be one. */
async function message(blobs: BlobStore, digest: Digest): Promise<Uint8Array> {
  if (digest.sizeBytes > mostMessageBytes) return nothing;
  try {
    return (await blobs.get(digest)) ?? nothing;
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "data_loss") return nothing;
    throw reason;
  }
}

const nothing = new Uint8Array();

/** Returns undefined for an illegal message: no worker executes it, so it holds only the blobs read so far. */
function decoded<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
