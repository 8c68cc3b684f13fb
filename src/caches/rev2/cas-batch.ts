import { create } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { unzstdWhole, zstdWhole } from "#cas/zstd/zstd-streams.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { statusOf } from "#grpc/status.ts";
import {
  type BatchUpdateBlobsRequest_Request,
  Compressor_Value,
  type DigestFunction_Value,
  type Digest as DigestMessage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type Status, StatusSchema } from "#proto/google/rpc/status_pb.ts";

/** Below this size, the header of a frame is larger than the saving. */
const leastPackedBytes = 256;

/** One blob of a batch; its failure does not fail the batch. */
export interface CasBatch {
  /** See `BlobStore.put` for `onWritten`. */
  update(
    request: BatchUpdateBlobsRequest_Request,
    by: DigestFunction_Value,
    onWritten?: () => void,
  ): Promise<Updated>;
  read(digest: DigestMessage, by: DigestFunction_Value, packed: boolean): Promise<BlobRead>;
}

interface Updated {
  readonly digest?: DigestMessage;
  readonly status: Status;
}

/** The response for one blob of a batch. */
export interface BlobRead {
  readonly digest: DigestMessage;
  readonly data: Uint8Array;
  readonly compressor: Compressor_Value;
  readonly status: Status;
}

export function casBatch(blobs: BlobStore, onUnexpected: (reason: unknown) => void): CasBatch {
  const statusAfter = async (work: () => Promise<void>): Promise<Status> => {
    try {
      await work();
      return create(StatusSchema);
    } catch (reason) {
      if (!(reason instanceof Fault)) onUnexpected(reason);
      return statusOf(reason);
    }
  };

  return {
    async update({ digest: message, data, compressor }, by, onWritten) {
      const status = await statusAfter(async () => {
        const digest = fromDigestMessage(message, "the blob", by);
        await blobs.put(digest, await unpacked(data, compressor, digest.sizeBytes), onWritten);
      });
      return { ...(message && { digest: message }), status };
    },

    async read(message, by, mayPack) {
      let data: Uint8Array = new Uint8Array();
      let compressor: Compressor_Value = Compressor_Value.IDENTITY;
      const status = await statusAfter(async () => {
        const digest = fromDigestMessage(message, "the blob", by);
        const bytes = await blobs.get(digest);
        if (bytes === undefined)
          throw new Fault("not_found", `${digestKey(digest)} is not in the store`);
        data = bytes;
        if (!mayPack || bytes.byteLength < leastPackedBytes) return;
        const packed = await zstdWhole(bytes);
        if (packed.byteLength >= bytes.byteLength) return;
        data = packed;
        compressor = Compressor_Value.ZSTD;
      });
      return { digest: message, data, compressor, status };
    },
  };
}

/** Returns the blob's own bytes; its digest limits their size. */
async function unpacked(
  data: Uint8Array,
  compressor: Compressor_Value,
  sizeBytes: number,
): Promise<Uint8Array> {
  if (compressor === Compressor_Value.IDENTITY) return data;
  if (compressor === Compressor_Value.ZSTD) return unzstdWhole(data, sizeBytes);
  throw new Fault("invalid_argument", "this server accepts blobs uncompressed or in zstd");
}
