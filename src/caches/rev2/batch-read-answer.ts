import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  BatchReadBlobsResponse_ResponseSchema,
  BatchReadBlobsResponseSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { BlobRead } from "./cas-batch.ts";

const responses = BatchReadBlobsResponseSchema.field.responses.number;
const dataField = BatchReadBlobsResponse_ResponseSchema.field.data.number;

/** Smaller parts are concatenated, because each part is a separate write. */
const laidTogetherBelowBytes = 16_384;

/**
 * A BatchReadBlobsResponse, encoded by hand.
 *
 * protobuf-es copies all blobs into one buffer: 4 MiB of it block the event loop for 3 ms. Here, large blobs are sent
 * without a copy.
 */
export function batchReadAnswer(read: readonly BlobRead[]): Uint8Array[] {
  const answer: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  const layTogether = () => {
    if (small.length > 0) answer.push(Buffer.concat(small));
    small = [];
  };
  for (const each of read) {
    small.push(headOf(each));
    if (each.data.byteLength < laidTogetherBelowBytes) small.push(each.data);
    else {
      layTogether();
      answer.push(each.data);
    }
  }
  layTogether();
  return answer;
}

/** Returns a blob's response without its bytes, which come last. */
function headOf({ data, ...rest }: BlobRead): Uint8Array {
  const response = toBinary(
    BatchReadBlobsResponse_ResponseSchema,
    create(BatchReadBlobsResponse_ResponseSchema, rest),
  );
  const dataHead =
    data.byteLength === 0
      ? data
      : new BinaryWriter()
          .tag(dataField, WireType.LengthDelimited)
          .uint32(data.byteLength)
          .finish();
  return new BinaryWriter()
    .tag(responses, WireType.LengthDelimited)
    .uint32(response.byteLength + dataHead.byteLength + data.byteLength)
    .raw(response)
    .raw(dataHead)
    .finish();
}
