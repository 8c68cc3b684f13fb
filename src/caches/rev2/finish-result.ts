import { fromBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { assertFewParts } from "#cas/message-parts.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import {
  type ActionResult,
  ActionSchema,
  type Command,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type InlineRequests, inlineOutputs } from "./inline-outputs.ts";
import { fillLegacySymlinks, mayLackLegacySymlinks } from "./legacy-symlinks.ts";

/** Some tools use as action digest the digest of their own text, of any size. */
const mostBytes = 4 * 1_048_576;
const mostParts = 250_000;

/** Prepares a result for its client: adds the requested inlined files, and fills the fields that the client knows. */
export async function finishResult(
  blobs: BlobStore,
  actionDigest: Digest,
  result: ActionResult,
  wanted: InlineRequests,
): Promise<void> {
  if (mayLackLegacySymlinks(result)) {
    const command = await commandOf(blobs, actionDigest);
    if (command !== undefined) fillLegacySymlinks(result, command);
  }
  await inlineOutputs(blobs, result, wanted, functionOf(actionDigest));
}

/** Returns undefined when it is missing, or when the digest does not name an REv2 action: some tools use others. */
async function commandOf(blobs: BlobStore, actionDigest: Digest): Promise<Command | undefined> {
  const action = await smallBlob(blobs, actionDigest);
  if (action === undefined) return undefined;
  let commandDigest: Digest;
  try {
    assertFewParts(ActionSchema, action, mostParts);
    const { commandDigest: message } = fromBinary(ActionSchema, action);
    commandDigest = fromDigestMessage(message, "its command", functionOf(actionDigest));
  } catch {
    return undefined;
  }
  const command = await smallBlob(blobs, commandDigest);
  if (command === undefined) return undefined;
  try {
    assertFewParts(CommandSchema, command, mostParts);
    return fromBinary(CommandSchema, command);
  } catch {
    return undefined;
  }
}

async function smallBlob(blobs: BlobStore, digest: Digest): Promise<Uint8Array | undefined> {
  return digest.sizeBytes <= mostBytes ? blobs.get(digest) : undefined;
}
