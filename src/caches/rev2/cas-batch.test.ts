import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BlobStore } from "#cas/blob-store.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { encodeDirectory } from "#cas/directory-message.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { unzstdWhole, zstdWhole } from "#cas/zstd/zstd-streams.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { type GrpcServer, grpcServer } from "#grpc/server.ts";
import {
  Capabilities,
  Compressor_Value,
  ContentAddressableStorage,
  DigestFunction_Value,
  DirectorySchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { capabilitiesService } from "./capabilities-service.ts";
import { casService } from "./cas-service.ts";

const cas = ContentAddressableStorage.method;
const { IDENTITY, ZSTD, BROTLI } = Compressor_Value;
const text = Buffer.alloc(10_000, "all work and no play ");
const noise = randomBytes(10_000);

let blobs: BlobStore;
let gets = 0;
let server: GrpcServer;
let channel: GrpcChannel;
beforeEach(async () => {
  const memory = memoryBlobStore();
  gets = 0;
  blobs = {
    ...memory,
    get: (digest) => {
      gets++;
      return memory.get(digest);
    },
  };
  server = grpcServer({
    methods: [
      ...casService(
        () => blobs,
        () => {},
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
});

describe("a batch of uploads", () => {
  test("takes packed and plain blobs, and answers for each", async () => {
    const packed = await zstdWhole(text);
    const digest = toDigestMessage(digestOf(text));
    const other = (n: number) => toDigestMessage(digestOf(Buffer.alloc(n, "y")));

    const { responses } = await channel.unary(cas.batchUpdateBlobs, {
      requests: [
        { digest, data: packed, compressor: ZSTD },
        { digest: toDigestMessage(digestOf(noise)), data: noise },
        { digest: other(7), data: packed, compressor: ZSTD },
        { digest: other(8), data: packed.subarray(0, -1), compressor: ZSTD },
        { digest: other(9), data: packed, compressor: BROTLI },
        { digest: { ...digest, sizeBytes: 9_999n }, data: packed, compressor: ZSTD },
        { digest: { ...digest, sizeBytes: -1n }, data: packed, compressor: ZSTD },
        { data: noise },
      ],
    });

    const bad = Array.from({ length: 6 }, () => Code.INVALID_ARGUMENT);
    expect(responses.map(({ status }) => status?.code)).toEqual([Code.OK, Code.OK, ...bad]);
    expect(await blobs.findMissing([digestOf(text), digestOf(noise)])).toEqual([]);
  });

  test("is refused when its packed blobs are too much together", async () => {
    const large = Buffer.alloc(3_000_000);
    const blob = {
      digest: toDigestMessage(digestOf(large)),
      data: await zstdWhole(large),
      compressor: ZSTD,
    };

    await expect(
      channel.unary(cas.batchUpdateBlobs, { requests: [blob, blob] }),
    ).rejects.toMatchObject({ code: "invalid_argument" });
  });

  test("does not wait for the sync of one blob before it begins with another", async () => {
    const data = Array.from({ length: 100 }, (_, n) => Buffer.from(`blob ${n}`));
    const memory = blobs;
    let written = 0;
    let allWritten = () => {};
    const synced = new Promise<void>((resolve) => {
      allWritten = resolve;
    });
    blobs = {
      ...memory,
      async put(digest, bytes, onWritten) {
        await memory.put(digest, bytes);
        if (++written === data.length) allWritten();
        onWritten?.();
        await synced;
      },
    };

    const { responses } = await channel.unary(cas.batchUpdateBlobs, {
      requests: data.map((each) => ({ digest: toDigestMessage(digestOf(each)), data: each })),
    });

    expect(responses.filter(({ status }) => status?.code === Code.OK)).toHaveLength(100);
  });

  test("says by which function its digests are", async () => {
    const digest = digestOf(text, "blake3");
    const { responses } = await channel.unary(cas.batchUpdateBlobs, {
      requests: [{ digest: toDigestMessage(digest), data: text }],
      digestFunction: DigestFunction_Value.BLAKE3,
    });

    expect(responses[0]?.status?.code).toBe(Code.OK);
    expect(await blobs.findMissing([digest])).toEqual([]);
  });
});

describe("a batch of reads", () => {
  const digests = [text, noise, Buffer.from("short")].map((bytes) =>
    toDigestMessage(digestOf(bytes)),
  );

  async function readBatch(acceptableCompressors: Compressor_Value[]) {
    for (const bytes of [text, noise, Buffer.from("short")])
      await blobs.put(digestOf(bytes), bytes);
    const { responses } = await channel.unary(cas.batchReadBlobs, {
      digests,
      acceptableCompressors,
    });
    return responses;
  }

  test.each([[[]], [[IDENTITY]], [[BROTLI]]])(
    "packs nothing for one who takes %j",
    async (accepted) => {
      const responses = await readBatch(accepted);

      expect(responses.map(({ compressor }) => compressor)).toEqual([IDENTITY, IDENTITY, IDENTITY]);
      expect(text.equals(responses[0]?.data ?? Buffer.of())).toBe(true);
    },
  );

  test("packs what becomes smaller for one who takes zstd", async () => {
    const [first, second, third] = await readBatch([IDENTITY, ZSTD]);

    expect(first?.compressor).toBe(ZSTD);
    expect(text.equals(await unzstdWhole(first?.data ?? Buffer.of(), text.byteLength))).toBe(true);
    expect(second?.compressor).toBe(IDENTITY);
    expect(noise.equals(second?.data ?? Buffer.of())).toBe(true);
    expect(third?.compressor).toBe(IDENTITY);
  });

  test("of 2 GiB is refused before anything is read", async () => {
    const huge = { hash: "0".repeat(64), sizeBytes: 2n ** 31n };

    await expect(
      channel.unary(cas.batchReadBlobs, { digests: [...digests, huge] }),
    ).rejects.toMatchObject({ code: "invalid_argument" });
    expect(gets).toBe(0);
  });
});

test("50,000 digests are one question, and each is answered once", async () => {
  await blobs.put(digestOf(text), text);
  const many = Array.from({ length: 50_000 }, (_, n) =>
    toDigestMessage(digestOf(Buffer.from(`${n}`))),
  );
  const [first] = many;

  const { missingBlobDigests } = await channel.unary(cas.findMissingBlobs, {
    blobDigests: [...many, toDigestMessage(digestOf(text)), ...(first ? [first, first] : [])],
  });

  expect(missingBlobDigests).toHaveLength(50_000);
});

test("says what it packs, and that it splits nothing without the chunking service", async () => {
  const { cacheCapabilities } = await channel.unary(Capabilities.method.getCapabilities, {});

  expect(cacheCapabilities).toMatchObject({
    supportedCompressors: [ZSTD],
    supportedBatchUpdateCompressors: [ZSTD],
    maxBatchTotalSizeBytes: 4_000_000n,
    maxCasBlobSizeBytes: 0n,
    splitBlobSupport: false,
    spliceBlobSupport: false,
  });
  await expect(channel.unary(cas.splitBlob, {})).rejects.toMatchObject({ code: "unimplemented" });
});

describe("a tree", () => {
  async function putDirectory(
    children: readonly { name: string; digest: ReturnType<typeof digestOf> }[],
  ) {
    const directories = children.map(({ name, digest }) => ({
      name,
      digest: toDigestMessage(digest),
    }));
    const { digest, bytes } = encodeDirectory(create(DirectorySchema, { directories }));
    await blobs.put(digest, bytes);
    return digest;
  }

  async function count(root: ReturnType<typeof digestOf>, pageSize = 0, pageToken = "") {
    const pages: number[] = [];
    const request = { rootDigest: toDigestMessage(root), pageSize, pageToken };
    for await (const page of channel.serverStream(cas.getTree, request)) {
      pages.push(page.directories.length);
    }
    return pages;
  }

  test("may be 5,000 deep", async () => {
    let digest = await putDirectory([]);
    for (let n = 1; n < 5_000; n++) digest = await putDirectory([{ name: "d", digest }]);

    expect(await count(digest)).toEqual([5_000]);
  });

  test("that doubles at each level is as large as its blobs", async () => {
    let digest = await putDirectory([]);
    for (let n = 0; n < 60; n++) {
      digest = await putDirectory([
        { name: "a", digest },
        { name: "b", digest },
      ]);
    }

    expect(await count(digest, 25)).toEqual([25, 25, 11]);
    expect(await count(digest, 25, "50")).toEqual([11]);
  });

  test.each([
    ["a page token of another server", 0, "abc"],
    ["a page token below zero", 0, "-1"],
    ["a page token without end", 0, "9".repeat(1_000)],
    ["a page size below zero", -1, ""],
  ])("is not given for %s", async (_, pageSize, pageToken) => {
    const digest = await putDirectory([]);

    await expect(count(digest, pageSize, pageToken)).rejects.toMatchObject({
      code: "invalid_argument",
    });
  });

  test("ends at once for a page behind its end", async () => {
    expect(await count(await putDirectory([]), 0, "999999999999999")).toEqual([0]);
  });

  test("is refused when a directory of it is none, or claims to be huge", async () => {
    const junk = Buffer.from("no directory at all");
    await blobs.put(digestOf(junk), junk);
    const huge = { ...digestOf(junk), sizeBytes: 2 ** 40 } as ReturnType<typeof digestOf>;

    const ofJunk = await putDirectory([{ name: "j", digest: digestOf(junk) }]);
    const ofHuge = await putDirectory([{ name: "h", digest: huge }]);

    await expect(count(ofJunk)).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(count(ofHuge)).rejects.toMatchObject({ code: "resource_exhausted" });
  });
});
