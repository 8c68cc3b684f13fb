import { outputTrees } from "#actions/output-trees.ts";
import { blobsOfResult } from "#actions/result-blobs.ts";
import { asActionResult } from "#caches/as-action-result.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, isEmptyDigest } from "#core/digest.ts";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";

const atOnce = 64;

/**
 * Above this size, blobs that the farm reports as present are not fetched in advance; they are fetched when they are
 * read.
 */
const mostBroughtBytes = 8 * 1024 * 1024;

interface Named {
  /** Undefined for bytes that are not an ActionResult: some tools store other data in its place. */
  readonly result?: ActionResult;
  /** Undefined when they cannot all be determined: a Tree is missing, or the result is malformed. */
  readonly blobs?: readonly Digest[];
}

/** The blobs that an ActionResult of Bazel's HTTP cache names. */
export async function namedBy(store: BlobStore, bytes: Uint8Array): Promise<Named> {
  const result = asActionResult(bytes);
  if (result === undefined) return {};
  try {
    return { result, blobs: await blobsOfResult(outputTrees(store), result, "sha256") };
  } catch {
    return { result };
  }
}

/** Fetches the missing ones, if they are few; returns false when one of them is unavailable. */
export async function fetchNamedBlobs(
  store: BlobStore,
  blobs: readonly Digest[],
): Promise<boolean> {
  const missing = (await store.findMissing(blobs)).filter((digest) => !isEmptyDigest(digest));
  const bytes = missing.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes > mostBroughtBytes) return true;
  const brought = await mapAtMost(atOnce, missing, (digest) => store.get(digest));
  return brought.every((each) => each !== undefined);
}
