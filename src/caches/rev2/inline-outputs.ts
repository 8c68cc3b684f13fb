import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import type { Digest, DigestFunction } from "#core/digest.ts";
import type {
  ActionResult,
  Digest as DigestMessage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** The files that a client wants inside the answer, instead of fetching them afterwards. */
export interface InlineRequests {
  readonly inlineStdout: boolean;
  readonly inlineStderr: boolean;
  /** The paths as in the command. */
  readonly inlineOutputFiles: readonly string[];
}

/** The limit for all inlined files: a response must stay well below gRPC's 4 MiB. */
export const mostInlinedBytes = 1_048_576;

/** Inlines the requested files that are small enough. A missing blob stays a digest. */
export async function inlineOutputs(
  blobs: BlobStore,
  result: ActionResult,
  wanted: InlineRequests,
  by: DigestFunction,
): Promise<void> {
  let room = mostInlinedBytes - result.stdoutRaw.length - result.stderrRaw.length;
  const take = async (message: DigestMessage | undefined): Promise<Uint8Array | undefined> => {
    if (message === undefined || message.sizeBytes > BigInt(Math.max(room, 0))) return undefined;
    const digest: Digest = fromDigestMessage(message, "an output", by);
    room -= digest.sizeBytes;
    return blobs.get(digest);
  };
  if (wanted.inlineStdout && result.stdoutRaw.length === 0)
    result.stdoutRaw = (await take(result.stdoutDigest)) ?? result.stdoutRaw;
  if (wanted.inlineStderr && result.stderrRaw.length === 0)
    result.stderrRaw = (await take(result.stderrDigest)) ?? result.stderrRaw;
  if (wanted.inlineOutputFiles.length === 0) return;
  const paths = new Set(wanted.inlineOutputFiles);
  for (const file of result.outputFiles) {
    if (!paths.has(file.path)) continue;
    file.contents = (await take(file.digest)) ?? file.contents;
  }
}
