import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { byteStreamService } from "#caches/rev2/byte-stream-service.ts";
import { casService } from "#caches/rev2/cas-service.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { openDiskUploads } from "#cas/disk/disk-uploads.ts";
import { zstdWhole } from "#cas/zstd/zstd-streams.ts";
import { encodeIndex } from "#commit-index/encode-index.ts";
import { type Digest, digestFrom } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { methodsOf } from "#grpc/method.ts";
import { grpcServer } from "#grpc/server.ts";
import {
  FetchedSchema,
  type FetchItem,
  FoundIndex_Source,
  Granaries,
  PublishResultsResponse_End_Kind,
} from "#proto/grange/granary/v1/granary_pb.ts";

/** The behaviour of a malicious farm. `right` is the correct value of a result. */
interface Malice {
  readonly name: string;
  /** The value that it claims for a result. */
  readonly valueFor?: (key: string) => Digest;
  /** Changes its bytes before it sends them. */
  readonly spoil?: (bytes: Uint8Array) => Uint8Array;
  /** An index for every build. */
  readonly index?: () => Uint8Array;
  readonly indexes?: number;
  readonly filter?: Uint8Array;
  readonly stream?: (items: readonly FetchItem[]) => AsyncIterable<Packed>;
  /** Called before each answer. */
  readonly before?: () => Promise<void>;
}

interface Packed {
  readonly packed: Uint8Array;
  readonly unpackedBytes: number;
}

interface HostileFarm {
  readonly port: number;
  malice: Malice;
  stop(): Promise<void>;
}

const commit = "0".repeat(40);

export async function startHostileFarm(values: readonly Uint8Array[]): Promise<HostileFarm> {
  const directory = await mkdtemp(join(tmpdir(), "grange-hostile-farm-"));
  const disk = await openDiskBlobStore(directory);
  for (const bytes of values) await disk.put(digestOf(bytes), bytes);
  const farm = { malice: { name: "none" } as Malice };
  const store: BlobStore = {
    findMissing: (digests) => disk.findMissing(digests),
    put: (digest, bytes) => disk.put(digest, bytes),
    write: (digest, chunks) => disk.write(digest, chunks),
    async get(digest) {
      await farm.malice.before?.();
      const bytes = await disk.get(digest);
      return bytes && (farm.malice.spoil?.(bytes) ?? bytes);
    },
    async read(digest) {
      const bytes = await store.get(digest);
      return (
        bytes &&
        (async function* () {
          yield bytes;
        })()
      );
    },
  };
  const stored = (namespace: string, key: string) => {
    const value = farm.malice.valueFor?.(key);
    return value === undefined
      ? []
      : [{ result: { namespace, key }, value: toDigestMessage(value) }];
  };
  const granaries = methodsOf(Granaries, {
    async resolve({ commits }) {
      const { malice } = farm;
      await malice.before?.();
      const bytes = malice.index?.();
      if (bytes !== undefined) await disk.put(digestOf(bytes), bytes);
      const index = bytes && {
        source: FoundIndex_Source.COMMIT,
        commit: commits[0] ?? commit,
        index: toDigestMessage(digestOf(bytes)),
        complete: true,
        entries: 1,
        bytes: 1n,
      };
      return {
        indexes: index ? Array.from({ length: malice.indexes ?? 1 }, () => index) : [],
        ...(malice.filter ? { filter: { bits: malice.filter, hashes: 7 } } : {}),
      };
    },
    async lookUp({ results }) {
      await farm.malice.before?.();
      return { results: results.flatMap(({ namespace, key }) => stored(namespace, key)) };
    },
    async *fetch({ items }) {
      await farm.malice.before?.();
      yield* farm.malice.stream?.(items) ?? [];
    },
    async publishResults({ results }) {
      await farm.malice.before?.();
      const end = { kind: PublishResultsResponse_End_Kind.REFUSED, message: "no" };
      return { ends: results.map(() => end) };
    },
  });
  const uploads = await openDiskUploads(directory, disk);
  const server = grpcServer({
    methods: [
      ...casService(
        () => store,
        () => {},
      ),
      ...byteStreamService(
        () => store,
        () => uploads,
      ),
      ...granaries,
    ],
    graceMs: 0,
  });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  const { port } = server.http2.address() as AddressInfo;
  return Object.assign(farm, {
    port,
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  });
}

async function packOf(items: MessageInitShape<typeof FetchedSchema>["items"]) {
  const bytes = toBinary(FetchedSchema, create(FetchedSchema, { items: items ?? [] }));
  return { packed: await zstdWhole(bytes), unpackedBytes: bytes.byteLength };
}

/** The keys of a build's results with their correct values. */
type Right = ReadonlyMap<string, Uint8Array>;

export function maliceAgainst(right: Right): readonly Malice[] {
  const valueFor = (key: string) => digestOf(right.get(key) ?? Buffer.from(key));
  const huge = digestFrom("sha256", "1".repeat(64), 2 ** 40);
  const indexOf = (value: (key: string) => Digest) =>
    encodeIndex({
      base: undefined,
      removed: [],
      entries: [...right.keys()].map((key) => ({
        namespace: "ccache",
        key,
        blobs: [value(key)],
        firstMs: 0,
        savedMs: undefined,
        inputs: undefined,
      })),
    });
  const spoil = (bytes: Uint8Array) => Buffer.alloc(bytes.byteLength, "x");
  const zeros = new Uint8Array(256 * 1_024);
  const million = encodeIndex({
    base: undefined,
    removed: [],
    entries: [
      {
        namespace: "ccache",
        key: "k",
        blobs: [],
        firstMs: 0,
        savedMs: undefined,
        inputs: undefined,
      },
    ],
  });
  return [
    {
      name: "wrong bytes",
      valueFor,
      spoil,
      index: () => indexOf(valueFor),
      stream: (items) => wrongBytes(items, right),
    },
    {
      name: "a stream without end",
      valueFor: () => huge,
      index: () => indexOf(() => huge),
      async *stream() {
        for (let offset = 0n; ; offset += BigInt(zeros.byteLength)) {
          const value = { digest: toDigestMessage(huge), offset, data: zeros };
          yield await packOf([{ item: { case: "blob", value } }]);
        }
      },
    },
    {
      name: "what nobody asked for, without end",
      index: () => indexOf(valueFor),
      async *stream() {
        for (let n = 0; ; n++) {
          const value = {
            result: { namespace: "ccache", key: `${n}` },
            value: toDigestMessage(huge),
          };
          yield await packOf([{ item: { case: "result", value } }]);
        }
      },
    },
    {
      name: "sizes that no number holds",
      valueFor: () => digestFrom("sha256", "2".repeat(64), Number.MAX_SAFE_INTEGER),
      index: () => indexOf(() => digestFrom("sha256", "2".repeat(64), Number.MAX_SAFE_INTEGER)),
    },
    {
      name: "an index of a million results",
      index: () => Buffer.concat(Array.from({ length: 1_000_000 }, () => million)),
    },
    {
      name: "bombs",
      index: () => indexOf(valueFor),
      async *stream() {
        for (;;)
          yield {
            packed: await zstdWhole(Buffer.alloc(64 * 1_048_576)),
            unpackedBytes: 15 * 1_048_576,
          };
      },
    },
    {
      name: "thousands of indexes, and a filter that says no",
      indexes: 20_000,
      index: () => indexOf(valueFor),
      filter: new Uint8Array(3 * 1_048_576),
    },
    {
      name: "failures",
      before: () => Promise.reject(new Fault("internal", "on purpose")),
    },
    { name: "silence", before: () => new Promise(() => {}) },
  ];
}

/** Yields wrong bytes of the correct length. */
async function* wrongBytes(items: readonly FetchItem[], right: Right): AsyncGenerator<Packed> {
  for (const { item } of items) {
    if (item.case === "result") {
      const bytes = right.get(item.value.key);
      if (bytes === undefined) continue;
      const value = { result: item.value, value: toDigestMessage(digestOf(bytes)) };
      yield await packOf([{ item: { case: "result", value } }]);
    } else if (item.case === "blob") {
      const data = Buffer.alloc(Number(item.value.sizeBytes), "x");
      const value = { digest: item.value, offset: 0n, data };
      yield await packOf([{ item: { case: "blob", value } }]);
    }
  }
}
