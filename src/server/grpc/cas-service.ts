import { create } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { mapAtMost } from "#cas/map-at-most.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import { statusOf } from "#grpc/status.ts";
import {
  type BatchUpdateBlobsRequest_Request,
  Compressor_Value,
  ContentAddressableStorage,
  type Digest as DigestMessage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type Status, StatusSchema } from "#proto/google/rpc/status_pb.ts";
import { treePages } from "./tree-pages.ts";

/** What all blobs of one batch may come to. Announced by Capabilities; a message may be a little larger. */
export const mostBatchBytes = 4 * 1_048_576;

/** A batch of many small blobs shall not take all file descriptors. */
const atOnce = 32;

export function casService(blobs: BlobStore, onUnexpected: (reason: unknown) => void): Method[] {
  /** One blob's failure is not the batch's. */
  const statusAfter = async (work: () => Promise<void>): Promise<Status> => {
    try {
      await work();
      return create(StatusSchema);
    } catch (reason) {
      if (!(reason instanceof Fault)) onUnexpected(reason);
      return statusOf(reason);
    }
  };

  const update = async (request: BatchUpdateBlobsRequest_Request) => {
    const status = await statusAfter(async () => {
      if (request.compressor !== Compressor_Value.IDENTITY) {
        throw new Fault("invalid_argument", "this server takes blobs uncompressed");
      }
      await blobs.put(fromDigestMessage(request.digest, "the blob"), request.data);
    });
    return { ...(request.digest && { digest: request.digest }), status };
  };

  const readOne = async (message: DigestMessage) => {
    let data: Uint8Array = new Uint8Array();
    const status = await statusAfter(async () => {
      const digest = fromDigestMessage(message, "the blob");
      const bytes = await blobs.get(digest);
      if (bytes === undefined) throw new Fault("not_found", `${digestKey(digest)} is not here`);
      data = bytes;
    });
    return { digest: message, data, status };
  };

  return methodsOf(ContentAddressableStorage, {
    async findMissingBlobs({ blobDigests }) {
      const digests = blobDigests.map((digest) => fromDigestMessage(digest, "a blob"));
      const missing = await blobs.findMissing(digests);
      return { missingBlobDigests: missing.map(toDigestMessage) };
    },

    async batchUpdateBlobs({ requests }) {
      assertWithinBatch(requests.reduce((sum, { data }) => sum + data.byteLength, 0));
      return { responses: await mapAtMost(atOnce, requests, update) };
    },

    async batchReadBlobs({ digests }) {
      assertWithinBatch(digests.reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0));
      return { responses: await mapAtMost(atOnce, digests, readOne) };
    },

    async *getTree({ rootDigest, pageSize, pageToken }) {
      const root = fromDigestMessage(rootDigest, "the tree's root");
      yield* treePages(blobs, root, pageSize, pageToken);
    },
  });
}

function assertWithinBatch(bytes: number): void {
  if (bytes <= mostBatchBytes) return;
  throw new Fault(
    "invalid_argument",
    `a batch of ${bytes} bytes is over ${mostBatchBytes}; use smaller ones, or ByteStream`,
  );
}
