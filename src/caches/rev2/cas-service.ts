import { fromDigestMessage } from "#cas/digest-message.ts";
import { Fault } from "#core/fault.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { decodeInTurns } from "#grpc/decode-request.ts";
import { type Method, methodsOf, rawMethod, type ServerCall } from "#grpc/method.ts";
import {
  BatchReadBlobsRequestSchema,
  Compressor_Value,
  ContentAddressableStorage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { mapWithEarlyEnd } from "#scheduling/map-with-early-end.ts";
import { batchReadAnswer } from "./batch-read-answer.ts";
import type { BlobsFor, RequireMayWrite } from "./blobs-for.ts";
import { type CasBatch, casBatch } from "./cas-batch.ts";
import { findMissing } from "./find-missing.ts";
import { projectOf } from "./project-of.ts";
import { treePages } from "./tree-pages.ts";

/** The limit for all blobs of one batch: a little more than Capabilities promise. */
const mostBatchBytes = 4 * 1_048_576;

/** A batch of many small blobs must not use up all file descriptors. */
const atOnce = 32;

/** The CAS service with batches. SplitBlob and SpliceBlob are in `chunking-service.ts`: a granary does not serve them. */
export function casService(
  blobsFor: BlobsFor,
  onUnexpected: (reason: unknown) => void,
  requireMayWrite: RequireMayWrite = async () => {},
  /** How many digests FindMissingBlobs checks at once. */
  checkedAtOnce?: number,
): Method[] {
  const batchFor = (project: string, context: CallContext) =>
    casBatch(blobsFor(project, context), onUnexpected);

  const others = methodsOf(ContentAddressableStorage, {
    async batchUpdateBlobs({ instanceName, requests, digestFunction }, context) {
      const project = projectOf(instanceName);
      await requireMayWrite(project, context);
      const batch = batchFor(project, context);
      // Packed blobs count by their unpacked size, which is held in memory.
      assertWithinBatch(
        requests.map(({ data, digest, compressor }) =>
          compressor === Compressor_Value.IDENTITY
            ? data.byteLength
            : Math.max(data.byteLength, Number(digest?.sizeBytes ?? 0n)),
        ),
      );
      const responses = await mapWithEarlyEnd(atOnce, requests, (request, onWritten) =>
        batch.update(request, digestFunction, onWritten),
      );
      return { responses };
    },

    async *getTree({ instanceName, rootDigest, pageSize, pageToken, digestFunction }, context) {
      const blobs = blobsFor(projectOf(instanceName), context);
      const root = fromDigestMessage(rootDigest, "the tree's root", digestFunction);
      yield* treePages(blobs, root, pageSize, pageToken);
    },
  });
  const { batchReadBlobs } = ContentAddressableStorage.method;
  return [
    findMissing(blobsFor, checkedAtOnce),
    rawMethod(batchReadBlobs, (call) => readBatch(batchFor, call)),
    ...others,
  ];
}

async function readBatch(
  batchFor: (project: string, context: CallContext) => CasBatch,
  call: ServerCall,
): Promise<void> {
  const { context, requests, inTurn, sendInTurn } = call;
  const message = await requests.only();
  const method = ContentAddressableStorage.method.batchReadBlobs;
  const { instanceName, digests, digestFunction, acceptableCompressors } = await inTurn(
    message.byteLength,
    () => decodeInTurns(method, BatchReadBlobsRequestSchema, message, context.peer),
  );
  const batch = batchFor(projectOf(instanceName), context);
  const bytes = assertWithinBatch(digests.map(({ sizeBytes }) => Number(sizeBytes)));
  const mayPack = acceptableCompressors.includes(Compressor_Value.ZSTD);
  await sendInTurn(bytes, async () =>
    batchReadAnswer(
      await mapAtMost(atOnce, digests, (digest) => batch.read(digest, digestFunction, mayPack)),
    ),
  );
}

/**
 * Returns the size of a batch. Too large batches are refused before anything is read, because a batch may claim
 * gigabytes. A size below 0 fails only its own blob.
 */
function assertWithinBatch(sizes: readonly number[]): number {
  const bytes = sizes.reduce((sum, size) => sum + Math.max(0, size), 0);
  if (bytes <= mostBatchBytes) return bytes;
  throw new Fault(
    "invalid_argument",
    `a batch of ${bytes} bytes is over ${mostBatchBytes}; use smaller ones, or ByteStream`,
  );
}
