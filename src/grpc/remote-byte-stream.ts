import { randomUUID } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { BlobStore, ByteRange } from "#cas/blob-store.ts";
import { spanIn } from "#cas/byte-span.ts";
import { digestForName } from "#cas/digest-in-name.ts";
import { matchingBytes } from "#cas/matching-bytes.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  ByteStream,
  ReadRequestSchema,
  WriteResponseSchema,
} from "#proto/google/bytestream/bytestream_pb.ts";
import { dataOfReadResponse, writeRequest } from "./byte-stream-wire.ts";
import type { CallOptions, GrpcChannel } from "./channel.ts";

const uploadChunkBytes = 1_048_576;

/** Blobs of another server, each by its own call: for blobs that do not fit into a batch. */
export function remoteByteStream(
  channel: GrpcChannel,
  instanceName: string,
  findMissing: BlobStore["findMissing"],
  options: CallOptions,
): Pick<BlobStore, "read" | "write"> {
  const prefix = instanceName === "" ? "" : `${instanceName}/`;

  const read = async (digest: Digest, range?: ByteRange) => {
    const { start, end } = spanIn(digest, range);
    const resourceName = `${prefix}blobs/${digestForName(digest)}`;
    // ByteStream has no way to say "nothing": there, a limit of 0 is none.
    if (start === end) return (await findMissing([digest])).length === 0 ? noBytes() : undefined;
    const request = create(ReadRequestSchema, {
      resourceName,
      readOffset: BigInt(start),
      readLimit: BigInt(end - start),
    });
    const bytes = toBinary(ReadRequestSchema, request);
    const messages = channel.raw(ByteStream.method.read, [bytes], options);
    try {
      // Only the first answer shows whether the blob exists.
      const first = await messages.next();
      return dataOf(first, messages);
    } catch (reason) {
      if (reason instanceof Fault && reason.code === "not_found") return undefined;
      throw reason;
    }
  };

  const write = async (digest: Digest, chunks: AsyncIterable<Uint8Array>, signal?: AbortSignal) => {
    const resourceName = `${prefix}uploads/${randomUUID()}/blobs/${digestForName(digest)}`;
    const response = await channel.rawClientStream(
      ByteStream.method.write,
      // Checked here, too: a server does not read the bytes of a blob that it has.
      uploadOf(resourceName, matchingBytes(digest, chunks, "invalid_argument")),
      signal === undefined ? options : { ...options, signal },
    );
    const { committedSize } = fromBinary(WriteResponseSchema, response);
    if (committedSize === BigInt(digest.sizeBytes)) return;
    throw new Fault("data_loss", `${digestKey(digest)} was stored with ${committedSize} bytes`);
  };

  return { read, write };
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

async function* dataOf(
  first: IteratorResult<Uint8Array, unknown>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (first.done === true) return;
    yield dataOfReadResponse(first.value);
    for await (const message of rest) yield dataOfReadResponse(message);
  } finally {
    await rest.return(undefined);
  }
}

async function* uploadOf(resourceName: string, chunks: AsyncIterable<Uint8Array>) {
  let writeOffset = 0;
  const message = (data: Uint8Array, finishWrite: boolean) => {
    const request = {
      resourceName: writeOffset === 0 ? resourceName : "",
      writeOffset,
      finishWrite,
      data,
    };
    writeOffset += data.byteLength;
    return writeRequest(request);
  };
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; at += uploadChunkBytes) {
      yield message(chunk.subarray(at, at + uploadChunkBytes), false);
    }
  }
  yield message(new Uint8Array(), true);
}
