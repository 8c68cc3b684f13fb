import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf, startDigest } from "#cas/digest-of.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { dataOfReadResponse, writeRequest } from "#grpc/byte-stream-wire.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import {
  BatchReadBlobsRequestSchema,
  BatchUpdateBlobsRequestSchema,
  ContentAddressableStorage,
  FindMissingBlobsRequestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream, ReadRequestSchema } from "#proto/google/bytestream/bytestream_pb.ts";
import type { Figure } from "./by-turns.ts";

const mebibyte = 1_048_576;
const messageBytes = 262_144;
/** A server may refuse a message while it holds too many: clients send it again, as Bazel does. */
const retries = 50;
const retryAfterMs = 100;
const smallBytes = 1_000;
const inBatch = 1_000;
const digestsInCall = 10_000;

/** How much is transferred. */
export interface CasLoad {
  /** Connections; each has one call at a time. */
  readonly clients: readonly number[];
  /** In all, divided among the clients: one blob for each. */
  readonly largeMiB: number;
  readonly smallInBatches: number;
  readonly smallByStream: number;
  /** For each number of clients, but at least one for each client. */
  readonly findMissingCalls: number;
}

/** A large blob: its parts repeat, its digest was computed once. */
interface LargeBlob {
  readonly digest: Digest;
  readonly parts: readonly Uint8Array[];
}

/** The large blobs for each number of clients, which are the same for all servers and rounds. */
export type LargeBlobs = ReadonlyMap<number, readonly LargeBlob[]>;

export function largeBlobs({ clients, largeMiB }: CasLoad): LargeBlobs {
  const noise = Array.from({ length: 15 }, () => randomBytes(mebibyte));
  return new Map(
    clients.map((count) => [
      count,
      Array.from({ length: count }, () => {
        const first = randomBytes(mebibyte);
        const parts = Array.from({ length: Math.max(1, Math.floor(largeMiB / count)) }, (_, n) =>
          n === 0 ? first : (noise[n % noise.length] as Uint8Array),
        );
        const running = startDigest();
        for (const part of parts) running.update(part);
        return { digest: running.digest(), parts };
      }),
    ]),
  );
}

/** Measures one server, which has none of the blobs: bytes in and out, small blobs, and FindMissingBlobs. */
export async function measureCas(url: string, load: CasLoad, large: LargeBlobs): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const clients of load.clients) {
    const channels = Array.from({ length: clients }, () => new GrpcChannel({ url }));
    try {
      const by = clients === 1 ? "1 client" : `${clients} clients`;
      const note = (what: string, unit: string, value: number) =>
        figures.push({ what: `${what}, ${by}`, unit, better: "higher", value });
      await largeFigures(channels, large.get(clients) ?? [], note);
      await batchFigures(channels, load.smallInBatches, note);
      await streamFigures(channels, load.smallByStream, note);
      await findMissingFigures(channels, Math.max(clients, load.findMissingCalls), note);
    } finally {
      await Promise.all(channels.map((channel) => channel.stop()));
    }
  }
  return figures;
}

type Note = (what: string, unit: string, value: number) => void;

async function largeFigures(
  channels: readonly GrpcChannel[],
  blobs: readonly LargeBlob[],
  note: Note,
): Promise<void> {
  const megabytes = blobs.reduce((sum, { digest }) => sum + digest.sizeBytes, 0) / 1e6;
  const each = (megabytes / blobs.length).toFixed(0);
  const what = `${(megabytes / 1e3).toFixed(2)} GB in blobs of ${each} MB`;
  const written = await shared(channels, blobs, async (channel, { digest, parts }) =>
    writeBlob(channel, digest, parts),
  );
  note(`${what}: in`, "MB/s", megabytes / written);
  const read = await shared(channels, blobs, (channel, { digest }) => readBlob(channel, digest));
  note(`${what}: out`, "MB/s", megabytes / read);
}

async function batchFigures(
  channels: readonly GrpcChannel[],
  count: number,
  note: Note,
): Promise<void> {
  const blobs = smallBlobs(count);
  const batches = Array.from({ length: Math.ceil(count / inBatch) }, (_, n) =>
    blobs.slice(n * inBatch, (n + 1) * inBatch),
  );
  const { batchUpdateBlobs, batchReadBlobs } = ContentAddressableStorage.method;
  // Encoded in advance: the client's own work is not measured.
  const updates = batches.map((part) =>
    toBinary(
      BatchUpdateBlobsRequestSchema,
      create(BatchUpdateBlobsRequestSchema, {
        requests: part.map(({ digest, data }) => ({ digest: toDigestMessage(digest), data })),
      }),
    ),
  );
  const written = await shared(channels, updates, async (channel, request) => {
    await channel.rawClientStream(batchUpdateBlobs, [request]);
  });
  const what = `${count} blobs of 1 kB by batches of ${inBatch}`;
  note(`${what}: in`, "blobs/s", count / written);
  const reads = batches.map((part) =>
    toBinary(
      BatchReadBlobsRequestSchema,
      create(BatchReadBlobsRequestSchema, {
        digests: part.map(({ digest }) => toDigestMessage(digest)),
      }),
    ),
  );
  let bytes = 0;
  const read = await shared(channels, reads, async (channel, request) => {
    const { byteLength } = await channel.rawClientStream(batchReadBlobs, [request]);
    bytes += byteLength;
  });
  if (bytes < count * smallBytes) throw new Error(`${what}: only ${bytes} bytes came back`);
  note(`${what}: out`, "blobs/s", count / read);
}

async function streamFigures(
  channels: readonly GrpcChannel[],
  count: number,
  note: Note,
): Promise<void> {
  const blobs = smallBlobs(count);
  const written = await shared(channels, blobs, (channel, { digest, data }) =>
    writeBlob(channel, digest, [data]),
  );
  const what = `${count} blobs of 1 kB by ByteStream, a call for each`;
  note(`${what}: in`, "blobs/s", count / written);
  const read = await shared(channels, blobs, (channel, { digest }) => readBlob(channel, digest));
  note(`${what}: out`, "blobs/s", count / read);
}

async function findMissingFigures(
  channels: readonly GrpcChannel[],
  calls: number,
  note: Note,
): Promise<void> {
  const { batchUpdateBlobs, findMissingBlobs } = ContentAddressableStorage.method;
  const blobs = smallBlobs(digestsInCall);
  const [channel] = channels;
  if (channel === undefined) return;
  // Half of them exist.
  for (let at = 0; at < digestsInCall / 2; at += inBatch) {
    const requests = blobs
      .slice(at, at + inBatch)
      .map(({ digest, data }) => ({ digest: toDigestMessage(digest), data }));
    await channel.unary(batchUpdateBlobs, { requests });
  }
  const request = toBinary(
    FindMissingBlobsRequestSchema,
    create(FindMissingBlobsRequestSchema, {
      blobDigests: blobs.map(({ digest }) => toDigestMessage(digest)),
    }),
  );
  const { missingBlobDigests } = await channel.unary(findMissingBlobs, {
    blobDigests: blobs.map(({ digest }) => toDigestMessage(digest)),
  });
  if (missingBlobDigests.length !== digestsInCall / 2)
    throw new Error(`${missingBlobDigests.length} of ${digestsInCall} digests are missing`);
  const seconds = await shared(
    channels,
    Array.from({ length: calls }, () => request),
    async (each, bytes) => {
      await each.rawClientStream(findMissingBlobs, [bytes]);
    },
  );
  note(
    `FindMissingBlobs of ${digestsInCall} digests, half of them missing`,
    "calls/s",
    calls / seconds,
  );
}

function smallBlobs(count: number): readonly { readonly digest: Digest; readonly data: Buffer }[] {
  const noise = randomBytes(count * smallBytes);
  return Array.from({ length: count }, (_, n) => {
    const data = noise.subarray(n * smallBytes, (n + 1) * smallBytes);
    return { data, digest: digestOf(data) };
  });
}

/** Works through the items on all channels, one at a time on each. Returns the seconds that it took. */
async function shared<T>(
  channels: readonly GrpcChannel[],
  items: readonly T[],
  work: (channel: GrpcChannel, item: T) => Promise<void>,
): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    channels.map(async (channel) => {
      for (let item = items[next++]; item !== undefined; item = items[next++])
        await retried(() => work(channel, item));
    }),
  );
  return (performance.now() - startedAt) / 1_000;
}

async function retried(work: () => Promise<void>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (reason) {
      const isRefused = reason instanceof Fault && reason.code === "resource_exhausted";
      if (!isRefused || attempt === retries) throw reason;
      await sleep(retryAfterMs);
    }
  }
}

/** Sends a blob in messages of at most 256 KiB, without hashing it. */
async function writeBlob(
  channel: GrpcChannel,
  digest: Digest,
  parts: readonly Uint8Array[],
): Promise<void> {
  const resourceName = `uploads/${randomUUID()}/blobs/${digestKey(digest)}`;
  await channel.rawClientStream(ByteStream.method.write, messagesOf(resourceName, parts));
}

async function* messagesOf(resourceName: string, parts: readonly Uint8Array[]) {
  const size = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let writeOffset = 0;
  for (const part of parts) {
    for (let at = 0; at < part.byteLength; at += messageBytes) {
      const data = part.subarray(at, at + messageBytes);
      const isLast = writeOffset + data.byteLength === size;
      const name = writeOffset === 0 ? resourceName : "";
      yield writeRequest({ resourceName: name, writeOffset, finishWrite: isLast, data });
      writeOffset += data.byteLength;
    }
  }
}

async function readBlob(channel: GrpcChannel, digest: Digest): Promise<void> {
  const request = toBinary(
    ReadRequestSchema,
    create(ReadRequestSchema, { resourceName: `blobs/${digestKey(digest)}` }),
  );
  let bytes = 0;
  for await (const message of channel.raw(ByteStream.method.read, [request]))
    bytes += dataOfReadResponse(message).byteLength;
  if (bytes !== digest.sizeBytes)
    throw new Error(`${bytes} of ${digest.sizeBytes} bytes came back`);
}
