import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { onTestFinished } from "vitest";
import { byteStreamService } from "#caches/rev2/byte-stream-service.ts";
import { casService } from "#caches/rev2/cas-service.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type DiskBlobStore, openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { openDiskUploads } from "#cas/disk/disk-uploads.ts";
import { zstdWhole } from "#cas/zstd/zstd-streams.ts";
import { keyText, Namespace } from "#commit-index/result-key.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import { grpcServer } from "#grpc/server.ts";
import {
  type FetchedItem,
  FetchedItemSchema,
  FetchedSchema,
  type FetchItem,
  Granaries,
  PublishResultsResponse_End_Kind,
} from "#proto/grange/granary/v1/granary_pb.ts";
import type { GranaryResult } from "../granary-result.ts";
import { fromStoredResult, toStoredResult } from "./stored-result.ts";

/** A farm's side of the protocol, in memory, over real gRPC; it counts its calls. */
export interface FakeFarm {
  readonly url: string;
  readonly port: number;
  readonly blobs: DiskBlobStore;
  readonly results: Map<string, GranaryResult>;
  /** `reads`: reads of single blobs. */
  readonly calls: { lookUp: number; keys: number; fetch: number; reads: number };
  readonly published: GranaryResult[];
  readonly divergences: unknown[];
  /** Stores a result with its bytes; the first text is its value. */
  has(key: string, texts: readonly string[], more?: Partial<GranaryResult>): Promise<GranaryResult>;
  /** Blobs that are sent along with results, by the digest's hash, correct or not. */
  readonly along: Map<string, Uint8Array>;
  /** While set, lookups wait for it. */
  gate: Promise<void> | undefined;
  /** Replaces the answer of `fetch`. */
  packs: ((items: readonly FetchItem[]) => AsyncIterable<Packed>) | undefined;
  stop(): Promise<void>;
}

interface Packed {
  packed: Uint8Array;
  unpackedBytes: number;
}

export async function packed(items: readonly FetchedItem[]): Promise<Packed> {
  const bytes = toBinary(FetchedSchema, create(FetchedSchema, { items: [...items] }));
  return { packed: await zstdWhole(bytes), unpackedBytes: bytes.byteLength };
}

export async function fakeFarm(
  options: { readonly withService?: boolean; readonly methods?: readonly Method[] } = {},
): Promise<FakeFarm> {
  const directory = await mkdtemp(join(tmpdir(), "grange-fake-farm-"));
  const blobs = await openDiskBlobStore(directory);
  const results = new Map<string, GranaryResult>();
  const farm = {
    blobs,
    results,
    calls: { lookUp: 0, keys: 0, fetch: 0, reads: 0 },
    along: new Map<string, Uint8Array>(),
    published: [] as GranaryResult[],
    divergences: [] as unknown[],
    gate: undefined as Promise<void> | undefined,
    packs: undefined as FakeFarm["packs"],
  };
  const nameOf = (project: string, key: { namespace: string; key: string }) =>
    `${project} ${keyText({ namespace: Namespace.parse(key.namespace), key: key.key })}`;

  async function* fetched(project: string, items: readonly FetchItem[]) {
    const found: FetchedItem[] = [];
    for (const asked of items) {
      const { item } = asked;
      if (item.case === "result") {
        const result = results.get(nameOf(project, item.value));
        found.push(
          create(FetchedItemSchema, {
            item: result
              ? { case: "result", value: toStoredResult(result) }
              : { case: "absent", value: asked },
          }),
        );
      } else if (item.case === "blob") {
        const digest = digestOf(Buffer.alloc(0));
        const wanted = {
          ...digest,
          hash: item.value.hash,
          sizeBytes: Number(item.value.sizeBytes),
        };
        const bytes = await blobs.get(wanted as typeof digest);
        const half = Math.ceil((bytes?.byteLength ?? 0) / 2);
        const parts = bytes === undefined ? [] : half === 0 ? [0] : [0, half];
        if (bytes === undefined)
          found.push(create(FetchedItemSchema, { item: { case: "absent", value: asked } }));
        for (const offset of parts) {
          if (offset > 0 && offset === bytes?.byteLength) continue;
          const data = bytes?.subarray(offset, offset + half) ?? new Uint8Array();
          const value = { digest: item.value, offset: BigInt(offset), data };
          found.push(create(FetchedItemSchema, { item: { case: "blob", value } }));
        }
      }
    }
    for (const each of found) yield await packed([each]);
  }

  const granaries = methodsOf(Granaries, {
    async lookUp({ instanceName, results: keys, blobBytes }) {
      farm.calls.lookUp++;
      farm.calls.keys += keys.length;
      await farm.gate;
      const found = keys.flatMap((key) => results.get(nameOf(instanceName, key)) ?? []);
      const along = found
        .flatMap(({ value, blobs: named }) => [value, ...named])
        .flatMap((digest) => {
          const data = blobBytes === 0 ? undefined : farm.along.get(digest.hash);
          return data === undefined ? [] : [{ digest: toDigestMessage(digest), data }];
        });
      return { results: found.map(toStoredResult), blobs: along };
    },
    async *fetch({ instanceName, items }) {
      farm.calls.fetch++;
      yield* farm.packs?.(items) ?? fetched(instanceName, items);
    },
    async publishResults({ instanceName, results: stored }) {
      for (const each of stored) {
        const result = fromStoredResult(instanceName, each);
        farm.published.push(result);
        results.set(nameOf(instanceName, result), result);
      }
      return { ends: stored.map(() => ({ kind: PublishResultsResponse_End_Kind.KEPT })) };
    },
    async reportDivergence({ json }) {
      farm.divergences.push(JSON.parse(json));
      return { quarantined: true };
    },
  });
  const uploads = await openDiskUploads(directory, blobs);
  const server = grpcServer({
    methods: [
      ...casService(
        () => ({
          ...blobs,
          get(digest) {
            farm.calls.reads++;
            return blobs.get(digest);
          },
        }),
        () => {},
      ),
      ...byteStreamService(
        () => blobs,
        () => uploads,
      ),
      ...(options.withService === false ? [] : granaries),
      ...(options.methods ?? []),
    ],
    graceMs: 0,
  });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  const { port } = server.http2.address() as AddressInfo;
  const stop = async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
  onTestFinished(stop);
  return Object.assign(farm, {
    url: `http://127.0.0.1:${port}`,
    port,
    stop,
    async has(key: string, texts: readonly string[], more: Partial<GranaryResult> = {}) {
      const digests = [];
      for (const text of texts) {
        const bytes = Buffer.from(text);
        await blobs.put(digestOf(bytes), bytes);
        digests.push(digestOf(bytes));
      }
      const [value, ...named] = digests;
      if (value === undefined) throw new Error("a result has a value");
      const result: GranaryResult = {
        project: "p",
        namespace: "ccache",
        key,
        value,
        blobs: named,
        attributes: {},
        costMs: undefined,
        ...more,
      };
      results.set(nameOf(result.project, result), result);
      return result;
    },
  });
}

export function blobMessage(text: string) {
  return toDigestMessage(digestOf(Buffer.from(text)));
}
