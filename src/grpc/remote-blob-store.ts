import { randomUUID } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { BlobStore, ByteRange } from "#cas/blob-store.ts";
import { spanIn } from "#cas/byte-span.ts";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { matchingBytes } from "#cas/matching-bytes.ts";
import { type Digest, digestKey, emptyDigest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  ContentAddressableStorage,
  type Digest as DigestMessage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  ByteStream,
  ReadRequestSchema,
  WriteResponseSchema,
} from "#proto/google/bytestream/bytestream_pb.ts";
import type { Status } from "#proto/google/rpc/status_pb.ts";
import { batched } from "./batcher.ts";
import { dataOfReadResponse, writeRequest } from "./byte-stream-wire.ts";
import type { CallOptions, GrpcChannel } from "./channel.ts";
import { faultOf } from "./status.ts";

/** What servers take in one batch, unless they say otherwise; some count the message, not the blobs alone. */
const mostBatchBytes = 4_000_000;
/** Digest, status and tags around each blob of a batch. */
const aroundEachBytes = 160;
const mostDigestsPerCall = 10_000;
const uploadChunkBytes = 1_048_576;

const { findMissingBlobs, batchReadBlobs, batchUpdateBlobs } = ContentAddressableStorage.method;

/**
 * The blobs of another server, by REv2's CAS and ByteStream.
 *
 * Small blobs that are asked for at the same time share calls. What arrives is
 * not checked against its digest here: lay a verifying store over it.
 */
export function remoteBlobStore(
  channel: GrpcChannel,
  instanceName: string,
  options: CallOptions = {},
): BlobStore {
  const prefix = instanceName === "" ? "" : `${instanceName}/`;
  const limits = { mostBytes: mostBatchBytes, mostItems: 4_000 };
  const isSmall = (digest: Digest) => digest.sizeBytes + aroundEachBytes <= mostBatchBytes;

  const findMissing = async (digests: readonly Digest[]) => {
    const unique = [...new Map(digests.map((digest) => [digestKey(digest), digest])).values()];
    const missing: Digest[] = [];
    for (let at = 0; at < unique.length; at += mostDigestsPerCall) {
      const blobDigests = unique.slice(at, at + mostDigestsPerCall).map(toDigestMessage);
      const response = await channel.unary(
        findMissingBlobs,
        { instanceName, blobDigests },
        options,
      );
      for (const digest of response.missingBlobDigests) {
        missing.push(fromDigestMessage(digest, "a missing blob"));
      }
    }
    return missing;
  };

  const getSmall = batched<Digest, Uint8Array | undefined>(
    limits,
    (digest) => digest.sizeBytes + aroundEachBytes,
    async (digests) => {
      // A digest given twice may be answered once: order and count are the server's.
      const request = { instanceName, digests: digests.map(toDigestMessage) };
      const { responses } = await channel.unary(batchReadBlobs, request, options);
      const byKey = new Map(responses.map((response) => [keyOf(response), response]));
      return digests.map((digest) => () => {
        const response = answered(byKey.get(digestKey(digest)), digest);
        const fault = faultIn(response.status);
        if (fault?.code === "not_found") return undefined;
        if (fault !== undefined) throw fault;
        return response.data;
      });
    },
  );

  const putSmall = batched<{ digest: Digest; data: Uint8Array }, void>(
    limits,
    ({ data }) => data.byteLength + aroundEachBytes,
    async (blobs) => {
      const requests = blobs.map(({ digest, data }) => ({ digest: toDigestMessage(digest), data }));
      const { responses } = await channel.unary(
        batchUpdateBlobs,
        { instanceName, requests },
        options,
      );
      const byKey = new Map(responses.map((response) => [keyOf(response), response]));
      return blobs.map(({ digest }) => () => {
        const fault = faultIn(answered(byKey.get(digestKey(digest)), digest).status);
        if (fault !== undefined) throw fault;
      });
    },
  );

  const read = async (digest: Digest, range?: ByteRange) => {
    const { start, end } = spanIn(digest, range);
    const resourceName = `${prefix}blobs/${digestKey(digest)}`;
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
      // Only the first answer tells whether the blob is there at all.
      const first = await messages.next();
      return dataOf(first, messages);
    } catch (reason) {
      if (reason instanceof Fault && reason.code === "not_found") return undefined;
      throw reason;
    }
  };

  const write = async (digest: Digest, chunks: AsyncIterable<Uint8Array>) => {
    const resourceName = `${prefix}uploads/${randomUUID()}/blobs/${digestKey(digest)}`;
    const response = await channel.rawClientStream(
      ByteStream.method.write,
      // Checked here, too: of a blob that it has, the server does not read what we send.
      uploadOf(resourceName, matchingBytes(digest, chunks, "invalid_argument")),
      options,
    );
    const { committedSize } = fromBinary(WriteResponseSchema, response);
    if (committedSize === BigInt(digest.sizeBytes)) return;
    throw new Fault("data_loss", `${digestKey(digest)} was kept as ${committedSize} bytes`);
  };

  return {
    read,
    write,
    findMissing,

    async get(digest) {
      if (digestKey(digest) === digestKey(emptyDigest)) return new Uint8Array();
      if (isSmall(digest)) return await getSmall(digest);
      const chunks = await read(digest);
      if (chunks === undefined) return undefined;
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(chunk);
      return Buffer.concat(parts);
    },

    async put(digest, bytes) {
      if (bytes.byteLength + aroundEachBytes <= mostBatchBytes)
        await putSmall({ digest, data: bytes });
      else await write(digest, inOneChunk(bytes));
    },
  };
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

async function* inOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
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

function keyOf({ digest }: { digest?: DigestMessage | undefined }): string {
  return `${digest?.hash}/${digest?.sizeBytes}`;
}

function answered<T>(response: T | undefined, digest: Digest): T {
  if (response !== undefined) return response;
  throw new Fault("internal", `the server's answer leaves ${digestKey(digest)} out`);
}

/** No status at all means OK: protobuf leaves out what is empty. */
function faultIn(status: Status | undefined): Fault | undefined {
  return status && faultOf(status);
}
