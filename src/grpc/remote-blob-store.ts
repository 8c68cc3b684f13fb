import type { BlobStore } from "#cas/blob-store.ts";
import { digestFunctionValues, fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import {
  type Digest,
  type DigestFunction,
  digestKey,
  functionOf,
  hexOf,
  isEmptyDigest,
  uniqueDigests,
} from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  ContentAddressableStorage,
  type Digest as DigestMessage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Status } from "#proto/google/rpc/status_pb.ts";
import { batched } from "./batcher.ts";
import type { CallOptions, GrpcChannel } from "./channel.ts";
import { remoteByteStream } from "./remote-byte-stream.ts";
import { faultOf } from "./status.ts";

/** The usual limit of servers for one batch, in bytes; some count the message and not only the blobs. */
const mostBatchBytes = 4_000_000;
/** Digest, status and tags around each blob of a batch. */
const aroundEachBytes = 160;
const mostDigestsPerCall = 10_000;

const { findMissingBlobs, batchReadBlobs, batchUpdateBlobs } = ContentAddressableStorage.method;

/**
 * The blobs of another server, by REv2's CAS and ByteStream.
 *
 * Small blobs that are requested at the same time share calls. Received bytes are not checked against their digest
 * here: wrap it with a verifying store.
 */
export function remoteBlobStore(
  channel: GrpcChannel,
  instanceName: string,
  options: CallOptions = {},
): BlobStore {
  const stores = new Map<DigestFunction, BlobStore>();
  const storeOf = (by: DigestFunction) => {
    const store = stores.get(by) ?? remoteBlobsBy(by, channel, instanceName, options);
    stores.set(by, store);
    return store;
  };
  const storeFor = (digest: Digest) => storeOf(functionOf(digest));
  return {
    get: (digest) => storeFor(digest).get(digest),
    read: (digest, range) => storeFor(digest).read(digest, range),
    put: (digest, bytes) => storeFor(digest).put(digest, bytes),
    write: (digest, chunks, signal) => storeFor(digest).write(digest, chunks, signal),
    async findMissing(digests) {
      const missing: Digest[] = [];
      for (const by of new Set(digests.map(functionOf))) {
        const sameFunction = digests.filter((digest) => functionOf(digest) === by);
        missing.push(...(await storeOf(by).findMissing(sameFunction)));
      }
      return missing;
    },
  };
}

/** Returns the blobs that are named by one function, because a call cannot mix two. */
function remoteBlobsBy(
  by: DigestFunction,
  channel: GrpcChannel,
  instanceName: string,
  options: CallOptions,
): BlobStore {
  const digestFunction = digestFunctionValues[by];
  const limits = { mostBytes: mostBatchBytes, mostItems: 4_000 };
  const isSmall = (digest: Digest) => digest.sizeBytes + aroundEachBytes <= mostBatchBytes;

  const findMissing = async (digests: readonly Digest[]) => {
    const unique = uniqueDigests(digests);
    const missing: Digest[] = [];
    for (let at = 0; at < unique.length; at += mostDigestsPerCall) {
      const blobDigests = unique.slice(at, at + mostDigestsPerCall).map(toDigestMessage);
      const response = await channel.unary(
        findMissingBlobs,
        { instanceName, digestFunction, blobDigests },
        options,
      );
      for (const digest of response.missingBlobDigests) {
        missing.push(fromDigestMessage(digest, "a missing blob", by));
      }
    }
    return missing;
  };

  const getSmall = batched<Digest, Uint8Array | undefined>(
    limits,
    (digest) => digest.sizeBytes + aroundEachBytes,
    async (digests) => {
      // A digest given twice may be answered once: order and count are the server's.
      const request = { instanceName, digestFunction, digests: digests.map(toDigestMessage) };
      const { responses } = await channel.unary(batchReadBlobs, request, options);
      const byKey = new Map(responses.map((response) => [keyOf(response), response]));
      return digests.map((digest) => () => {
        const response = answered(byKey.get(requestedKey(digest)), digest);
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
        { instanceName, digestFunction, requests },
        options,
      );
      const byKey = new Map(responses.map((response) => [keyOf(response), response]));
      return blobs.map(({ digest }) => () => {
        const fault = faultIn(answered(byKey.get(requestedKey(digest)), digest).status);
        if (fault !== undefined) throw fault;
      });
    },
  );

  const stream = remoteByteStream(channel, instanceName, findMissing, options);

  return {
    ...stream,
    findMissing,

    async get(digest) {
      if (isEmptyDigest(digest)) return new Uint8Array();
      if (isSmall(digest)) return await getSmall(digest);
      const chunks = await stream.read(digest);
      if (chunks === undefined) return undefined;
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(chunk);
      return Buffer.concat(parts);
    },

    async put(digest, bytes) {
      if (bytes.byteLength + aroundEachBytes <= mostBatchBytes)
        await putSmall({ digest, data: bytes });
      else await stream.write(digest, inOneChunk(bytes));
    },
  };
}

async function* inOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function requestedKey(digest: Digest): string {
  return `${hexOf(digest)}/${digest.sizeBytes}`;
}

/** The like of `requestedKey` in an answer. */
function keyOf({ digest }: { digest?: DigestMessage | undefined }): string {
  return `${digest?.hash}/${digest?.sizeBytes}`;
}

function answered<T>(response: T | undefined, digest: Digest): T {
  if (response !== undefined) return response;
  throw new Fault("internal", `the server's answer lacks ${digestKey(digest)}`);
}

/** A missing status means OK: protobuf leaves out empty messages. */
function faultIn(status: Status | undefined): Fault | undefined {
  return status && faultOf(status);
}
