import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { byteStreamService } from "#caches/rev2/byte-stream-service.ts";
import { capabilitiesService } from "#caches/rev2/capabilities-service.ts";
import { casService } from "#caches/rev2/cas-service.ts";
import { describeBlobStore } from "#cas/blob-store.fixture.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { encodeDirectory } from "#cas/directory-message.ts";
import { type DiskBlobStore, openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { openDiskUploads } from "#cas/disk/disk-uploads.ts";
import { digestKey } from "#core/digest.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import { type GrpcServer, grpcServer } from "#grpc/server.ts";
import {
  Capabilities,
  ContentAddressableStorage,
  DirectorySchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";

const cas = ContentAddressableStorage.method;
const hello = Buffer.from("hello, blob");
const large = Buffer.alloc(5_000_000, "all work and no play ");

let directory: string;
let blobs: DiskBlobStore;
let server: GrpcServer;
let channel: GrpcChannel;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-cas-services-"));
  blobs = await openDiskBlobStore(directory);
  const uploads = await openDiskUploads(directory, blobs);
  server = grpcServer({
    methods: [
      ...casService(
        () => blobs,
        () => {},
      ),
      ...byteStreamService(
        () => blobs,
        () => uploads,
      ),
      ...capabilitiesService({
        execution: true,
        chunking: false,
        actionCacheUpdates: async () => false,
      }),
    ],
  });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  const { port } = server.http2.address() as AddressInfo;
  channel = new GrpcChannel({ url: `http://127.0.0.1:${port}` });
});
afterEach(async () => {
  await channel.stop();
  await server.stop();
  await rm(directory, { recursive: true });
});

describeBlobStore("a server reached by gRPC", () => remoteBlobStore(channel, "some/instance"));

async function put(bytes: Uint8Array) {
  const digest = digestOf(bytes);
  await blobs.put(digest, bytes);
  return digest;
}

async function readAll(resourceName: string, readOffset = 0n, readLimit = 0n): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const request = { resourceName, readOffset, readLimit };
  for await (const { data } of channel.serverStream(ByteStream.method.read, request))
    parts.push(data);
  return Buffer.concat(parts);
}

async function* upload(bytes: Uint8Array, name = `uploads/x/blobs/${digestKey(digestOf(bytes))}`) {
  const first = bytes.subarray(0, Math.min(100_000, bytes.byteLength / 2));
  yield { resourceName: name, data: first };
  const rest = bytes.subarray(first.byteLength);
  yield { writeOffset: BigInt(first.byteLength), data: rest, finishWrite: true };
}

describe("batches", () => {
  test("answer for each blob alone", async () => {
    const digest = toDigestMessage(digestOf(hello));

    const { responses } = await channel.unary(cas.batchUpdateBlobs, {
      requests: [
        { digest, data: hello },
        { digest: toDigestMessage(digestOf(large)), data: hello },
        { digest: { hash: "short", sizeBytes: 1n }, data: hello },
      ],
    });

    const codes = [Code.OK, Code.INVALID_ARGUMENT, Code.INVALID_ARGUMENT];
    expect(responses.map(({ status }) => status?.code)).toEqual(codes);
    expect(await blobs.findMissing([digestOf(hello), digestOf(large)])).toEqual([digestOf(large)]);
  });

  test("read what is here, and say what is not", async () => {
    const digests = [await put(hello), digestOf(large)].map(toDigestMessage);
    digests.push(toDigestMessage(digestOf(Buffer.from("gone"))));
    const [here, , gone] = digests;

    const read = await channel.unary(cas.batchReadBlobs, {
      digests: [here, gone].flatMap((d) => d ?? []),
    });

    expect(read.responses.map(({ status }) => status?.code)).toEqual([Code.OK, Code.NOT_FOUND]);
    expect(Buffer.from(read.responses[0]?.data ?? [])).toEqual(hello);
  });

  test("over the limit are refused as a whole", async () => {
    const failed = channel.unary(cas.batchReadBlobs, {
      digests: [toDigestMessage(digestOf(large))],
    });

    await expect(failed).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

describe("ByteStream", () => {
  test("reads parts", async () => {
    const key = digestKey(await put(hello));

    expect(await readAll(`a/b/blobs/${key}`, 7n)).toEqual(hello.subarray(7));
    expect(await readAll(`blobs/${key}`, 1n, 4n)).toEqual(hello.subarray(1, 5));
    expect(await readAll(`blobs/${key}`, BigInt(hello.length))).toHaveLength(0);
  });

  test.each([
    ["an offset behind the end", `blobs/${digestKey(digestOf(hello))}`, 12n, 0n, "out_of_range"],
    ["a negative offset", `blobs/${digestKey(digestOf(hello))}`, -1n, 0n, "out_of_range"],
    ["a negative limit", `blobs/${digestKey(digestOf(hello))}`, 0n, -1n, "invalid_argument"],
    ["a missing blob", `blobs/${digestKey(digestOf(large))}`, 0n, 0n, "not_found"],
    ["no digest", "blobs/abc/1", 0n, 0n, "invalid_argument"],
    ["no size", `blobs/${digestOf(hello).hash}/`, 0n, 0n, "invalid_argument"],
    ["another name", "bytes", 0n, 0n, "invalid_argument"],
    [
      "a blob packed otherwise",
      `compressed-blobs/brotli/${digestKey(digestOf(hello))}`,
      0n,
      0n,
      "invalid_argument",
    ],
  ])("refuses to read %s", async (_, name, offset, limit, code) => {
    await put(hello);

    await expect(readAll(name, offset, limit)).rejects.toMatchObject({ code });
  });

  test("takes an upload, and says so when asked", async () => {
    const resourceName = `main/uploads/x/blobs/${digestKey(digestOf(hello))}/made-by-me`;
    const before = await channel.unary(ByteStream.method.queryWriteStatus, { resourceName });

    const written = await channel.clientStream(
      ByteStream.method.write,
      upload(hello, resourceName),
    );

    const after = await channel.unary(ByteStream.method.queryWriteStatus, { resourceName });
    expect(before).toMatchObject({ complete: false, committedSize: 0n });
    expect(written.committedSize).toBe(11n);
    expect(after).toMatchObject({ complete: true, committedSize: 11n });
  });

  test("answers at once when the blob is here already", async () => {
    await put(large);

    const written = await channel.clientStream(ByteStream.method.write, upload(large));

    expect(written.committedSize).toBe(5_000_000n);
  });

  const name = `uploads/x/blobs/${digestKey(digestOf(hello))}`;
  test.each([
    [
      "has a gap",
      [
        { data: hello.subarray(0, 4) },
        { writeOffset: 5n, data: hello.subarray(5), finishWrite: true },
      ],
      "invalid_argument",
    ],
    [
      "begins in the middle",
      [{ writeOffset: 4n, data: hello.subarray(4), finishWrite: true }],
      "out_of_range",
    ],
    ["is not finished", [{ data: hello }], "invalid_argument"],
    ["is cut short", [{ data: hello.subarray(0, 4), finishWrite: true }], "invalid_argument"],
    [
      "is of other bytes",
      [{ data: Buffer.from("HELLO, BLOB"), finishWrite: true }],
      "invalid_argument",
    ],
    [
      "goes on after its end",
      [
        { data: hello, finishWrite: true },
        { writeOffset: 11n, data: hello },
      ],
      "invalid_argument",
    ],
  ])("keeps nothing of an upload that %s", async (_, messages, code) => {
    async function* requests() {
      for (const message of messages) yield { resourceName: name, ...message };
    }

    const failed = channel.clientStream(ByteStream.method.write, requests());

    await expect(failed).rejects.toMatchObject({ code });
    expect(await blobs.findMissing([digestOf(hello)])).toHaveLength(1);
  });
});

describe("GetTree", () => {
  const leaf = encodeDirectory(create(DirectorySchema, { symlinks: [{ name: "l", target: "x" }] }));
  const middle = encodeDirectory(
    create(DirectorySchema, {
      directories: [{ name: "leaf", digest: toDigestMessage(leaf.digest) }],
    }),
  );
  const root = encodeDirectory(
    create(DirectorySchema, {
      directories: [
        { name: "a", digest: toDigestMessage(middle.digest) },
        { name: "b", digest: toDigestMessage(leaf.digest) },
        { name: "c", digest: toDigestMessage(digestOf(hello)) },
      ],
    }),
  );

  async function pagesFrom(pageSize: number, pageToken = "") {
    const pages: [number, string][] = [];
    const request = { rootDigest: toDigestMessage(root.digest), pageSize, pageToken };
    for await (const page of channel.serverStream(cas.getTree, request)) {
      pages.push([page.directories.length, page.nextPageToken]);
    }
    return pages;
  }

  test("gives each directory once, in pages, without those that are missing", async () => {
    for (const { digest, bytes } of [root, middle, leaf]) await blobs.put(digest, bytes);

    expect(await pagesFrom(0)).toEqual([[3, ""]]);
    expect(await pagesFrom(2)).toEqual([
      [2, "2"],
      [1, ""],
    ]);
    expect(await pagesFrom(2, "2")).toEqual([[1, ""]]);
  });

  test("does not know a tree whose root is missing", async () => {
    await expect(pagesFrom(0)).rejects.toMatchObject({ code: "not_found" });
  });
});

test("Bazel of every age finds the version and the digest function that it looks for", async () => {
  const found = await channel.unary(Capabilities.method.getCapabilities, {});

  expect(found.lowApiVersion).toMatchObject({ major: 2, minor: 0 });
  expect(found.highApiVersion).toMatchObject({ major: 2, minor: 11 });
  expect(found.executionCapabilities).toMatchObject({
    digestFunction: 1,
    digestFunctions: [1, 2, 5, 6, 3, 9],
  });
});
