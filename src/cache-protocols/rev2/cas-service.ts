import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { mapAtMost } from "#cas/map-at-most.ts";
import { Fault } from "#core/fault.ts";
import { decodeInTurns } from "#grpc/decode-request.ts";
import { type Method, methodsOf, rawMethod, type ServerCall } from "#grpc/method.ts";
import {
  BatchReadBlobsRequestSchema,
  Compressor_Value,
  ContentAddressableStorage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { batchReadAnswer } from "./batch-read-answer.ts";
import { type CasBatch, casBatch } from "./cas-batch.ts";
import { findMissing } from "./find-missing.ts";
import { projectOf } from "./project-of.ts";
import { treePages } from "./tree-pages.ts";

/** What all blobs of one batch may come to: a little more than Capabilities promise. */
const mostBatchBytes = 4 * 1_048_576;

/** A batch of many small blobs shall not take all file descriptors. */
const atOnce = 32;

/**
 * The blobs by batches. Split and Splice are not offered: Capabilities say so, and
 * calls are answered `unimplemented`.
 */
export function casService(blobs: BlobStore, onUnexpected: (reason: unknown) => void): Method[] {
  const batch = casBatch(blobs, onUnexpected);

  const others = methodsOf(ContentAddressableStorage, {
    async batchUpdateBlobs({ instanceName, requests, digestFunction }) {
      projectOf(instanceName);
      // Packed blobs count by what they become: that is what is held at once.
      assertWithinBatch(
        requests.map(({ data, digest, compressor }) =>
          compressor === Compressor_Value.IDENTITY
            ? data.byteLength
            : Math.max(data.byteLength, Number(digest?.sizeBytes ?? 0n)),
        ),
      );
      const responses = await mapAtMost(atOnce, requests, (request) =>
        batch.update(request, digestFunction),
      );
      return { responses };
    },

    async *getTree({ instanceName, rootDigest, pageSize, pageToken, digestFunction }) {
      projectOf(instanceName);
      const root = fromDigestMessage(rootDigest, "the tree's root", digestFunction);
      yield* treePages(blobs, root, pageSize, pageToken);
    },
  });
  const { batchReadBlobs } = ContentAddressableStorage.method;
  return [
    findMissing(blobs),
    rawMethod(batchReadBlobs, (call) => readBatch(batch, call)),
    ...others,
  ];
}

async function readBatch(batch: CasBatch, call: ServerCall): Promise<void> {
  const { context, requests, inTurn, sendInTurn } = call;
  const message = await requests.only();
  const method = ContentAddressableStorage.method.batchReadBlobs;
  const { instanceName, digests, digestFunction, acceptableCompressors } = await inTurn(
    message.byteLength,
    () => decodeInTurns(method, BatchReadBlobsRequestSchema, message, context.peer),
  );
  projectOf(instanceName);
  const bytes = assertWithinBatch(digests.map(({ sizeBytes }) => Number(sizeBytes)));
  const mayPack = acceptableCompressors.includes(Compressor_Value.ZSTD);
  await sendInTurn(bytes, async () =>
    batchReadAnswer(
      await mapAtMost(atOnce, digests, (digest) => batch.read(digest, digestFunction, mayPack)),
    ),
  );
}

/** What a batch comes to. Refused before anything is read: a batch may claim gigabytes. A size below 0 is its own blob's failure. */
function assertWithinBatch(sizes: readonly number[]): number {
  const bytes = sizes.reduce((sum, size) => sum + Math.max(0, size), 0);
  if (bytes <= mostBatchBytes) return bytes;
  throw new Fault(
    "invalid_argument",
    `a batch of ${bytes} bytes is over ${mostBatchBytes}; use smaller ones, or ByteStream`,
  );
}
