import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { byteStreamService } from "#caches/rev2/byte-stream-service.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type DiskBlobStore, openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { openDiskUploads } from "#cas/disk/disk-uploads.ts";
import { verifying } from "#cas/verifying-blob-store.ts";
import { unzstdWhole, zstdWhole } from "#cas/zstd/zstd-streams.ts";
import { digestKey } from "#core/digest.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { pathOf } from "#grpc/method.ts";
import { type GrpcServer, grpcServer } from "#grpc/server.ts";
import { RequestMetadataSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  ByteStream,
  ReadRequestSchema,
  ReadResponseSchema,
  WriteRequestSchema,
  WriteResponseSchema,
} from "#proto/google/bytestream/bytestream_pb.ts";

const { read, write, queryWriteStatus } = ByteStream.method;
const bytes = Buffer.concat([randomBytes(100_000), Buffer.alloc(900_000, "all work and no play ")]);
const digest = digestOf(bytes);
const plainName = `blobs/${digestKey(digest)}`;
const packedName = `compressed-blobs/zstd/${digestKey(digest)}`;

const root = await mkdtemp(join(tmpdir(), "byte-stream-"));
afterAll(() => rm(root, { recursive: true }));

let blobs: DiskBlobStore;
let server: GrpcServer;
let channel: GrpcChannel;
let url: string;
beforeEach(async () => {
  const directory = await mkdtemp(join(root, "store-"));
  blobs = await openDiskBlobStore(directory);
  const uploads = await openDiskUploads(directory, blobs);
  const checked = verifying(blobs, (lost) => blobs.remove(lost));
  server = grpcServer({
    methods: byteStreamService(
      () => checked,
      () => uploads,
    ),
  });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  url = `127.0.0.1:${(server.http2.address() as AddressInfo).port}`;
  channel = new GrpcChannel({ url: `http://${url}` });
});
afterEach(async () => {
  await channel.stop();
  await server.stop();
});

function by(toolName: string, toolVersion = "") {
  const said = create(RequestMetadataSchema, { toolDetails: { toolName, toolVersion } });
  return {
    metadata: {
      "build.bazel.remote.execution.v2.requestmetadata-bin": toBinary(RequestMetadataSchema, said),
    },
  };
}
const bazel = by("bazel", "8.0.0");

interface Sent {
  readonly name: string;
  readonly data: Uint8Array;
  readonly offset?: number;
  readonly sizes?: readonly number[];
  readonly finish?: boolean;
}

async function* messages({ name, data, offset = 0, sizes = [], finish = true }: Sent) {
  const ends: number[] = [];
  for (const size of sizes) ends.push(Math.min(data.byteLength, (ends.at(-1) ?? 0) + size));
  ends.push(data.byteLength);
  let at = 0;
  for (const [n, end] of ends.entries()) {
    yield {
      resourceName: n === 0 ? name : "",
      writeOffset: BigInt(offset + at),
      data: data.subarray(at, end),
      finishWrite: finish && n === ends.length - 1,
    };
    at = end;
  }
}

async function send(sent: Sent, options = {}): Promise<number> {
  const response = await channel.clientStream(write, messages(sent), options);
  return Number(response.committedSize);
}

async function readAll(resourceName: string, readOffset = 0n, readLimit = 0n): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const request = { resourceName, readOffset, readLimit };
  for await (const { data } of channel.serverStream(read, request)) parts.push(data);
  return Buffer.concat(parts);
}

async function committed(resourceName: string, options = {}): Promise<number> {
  const status = await channel.unary(queryWriteStatus, { resourceName }, options);
  return Number(status.committedSize);
}

describe("a packed upload", () => {
  test("arrives in any frames and any messages", async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 200_000 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(sizes, sizes, async (frames, parts) => {
        await blobs.remove(digest);
        const packed: Uint8Array[] = [];
        let at = 0;
        for (const size of [...frames, bytes.byteLength]) {
          packed.push(await zstdWhole(bytes.subarray(at, at + size)));
          at += size;
        }
        const data = Buffer.concat(packed);

        const size = await send({ name: `uploads/x/${packedName}`, data, sizes: parts });

        expect(size).toBe(data.byteLength);
        expect(bytes.equals((await blobs.get(digest)) ?? Buffer.of())).toBe(true);
      }),
      { numRuns: 10 },
    );
  });

  test.each([
    ["other bytes", async () => zstdWhole(randomBytes(bytes.byteLength))],
    ["more bytes", async () => zstdWhole(Buffer.alloc(bytes.byteLength + 1))],
    ["fewer bytes", async () => zstdWhole(bytes.subarray(1))],
    ["half a frame", async () => (await zstdWhole(bytes)).subarray(0, -1)],
    ["no zstd", async () => bytes],
    ["a far larger blob, packed small", async () => zstdWhole(Buffer.alloc(50_000_000))],
  ])("of %s is refused", async (_, packed) => {
    const failed = send({ name: `uploads/x/${packedName}`, data: await packed(), sizes: [70_000] });

    await expect(failed).rejects.toMatchObject({ code: "invalid_argument" });
    expect(await blobs.findMissing([digest])).toEqual([digest]);
  });

  test.each([
    ["anyone", {}, "received"],
    ["Bazel 5.0", by("bazel", "5.0.0"), "received"],
    ["Bazel 8", bazel, "minus one"],
    ["Siso", by("siso", "1.3"), "blob"],
  ])("of a blob that is here is answered as %s wants it", async (_, options, expected) => {
    await blobs.put(digest, bytes);
    const data = await zstdWhole(bytes);
    const sizes = { received: data.byteLength, "minus one": -1, blob: bytes.byteLength };

    const size = await send({ name: `uploads/x/${packedName}`, data, sizes: [9_000] }, options);

    expect(size).toBe(sizes[expected as keyof typeof sizes]);
  });
});

describe("a packed read", () => {
  test("gives all from an offset of the blob's own bytes", async () => {
    await blobs.put(digest, bytes);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: bytes.byteLength }), async (offset) => {
        const packed = await readAll(packedName, BigInt(offset));

        const rest = await unzstdWhole(packed, bytes.byteLength);
        expect(bytes.subarray(offset).equals(rest)).toBe(true);
      }),
      { numRuns: 10 },
    );
    expect((await readAll(packedName)).byteLength).toBeLessThan(110_000);
  });

  test("has no limit, and no offset beyond the end", async () => {
    await blobs.put(digest, bytes);

    await expect(readAll(packedName, 0n, 5n)).rejects.toMatchObject({ code: "invalid_argument" });
    const beyond = readAll(packedName, BigInt(bytes.byteLength + 1));
    await expect(beyond).rejects.toMatchObject({ code: "out_of_range" });
  });

  test("does not know what is not here", async () => {
    await expect(readAll(packedName)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("a small upload in one message", () => {
  const small = Buffer.from("small");
  const name = `uploads/x/blobs/${digestKey(digestOf(small))}`;

  test("is stored, and is read in one message", async () => {
    expect(await send({ name, data: small })).toBe(small.byteLength);

    const messagesOfRead: Uint8Array[] = [];
    const request = { resourceName: `blobs/${digestKey(digestOf(small))}` };
    for await (const { data } of channel.serverStream(read, request)) messagesOfRead.push(data);
    expect(messagesOfRead.map((data) => Buffer.from(data))).toEqual([small]);
  });

  test("without bytes is the empty blob, which is read as nothing", async () => {
    const empty = digestKey(digestOf(Buffer.of()));

    expect(await send({ name: `uploads/x/blobs/${empty}`, data: Buffer.of() })).toBe(0);
    expect(await readAll(`blobs/${empty}`)).toHaveLength(0);
  });

  test.each([
    ["other bytes", Buffer.from("Small")],
    ["more bytes", Buffer.from("small too")],
    ["fewer bytes", Buffer.from("smal")],
  ])("of %s is refused", async (_, data) => {
    await expect(send({ name, data })).rejects.toMatchObject({ code: "invalid_argument" });
    expect(await blobs.findMissing([digestOf(small)])).toHaveLength(1);
  });

  test("that continues after its end is refused", async () => {
    async function* withOneMore() {
      yield* messages({ name, data: small });
      yield* messages({ name, data: small, offset: small.byteLength });
    }

    const sent = channel.clientStream(write, withOneMore());

    await expect(sent).rejects.toMatchObject({ code: "invalid_argument" });
    expect(await blobs.findMissing([digestOf(small)])).toHaveLength(1);
  });
});

test.each([
  [0n, 10n, 0, 10],
  [999_990n, 100n, 999_990, 1_000_000],
  [1_000_000n, 7n, 1_000_000, 1_000_000],
  [5n, 9_223_372_036_854_775_807n, 5, 1_000_000],
])("a plain read from %d of at most %d gives what there is", async (offset, limit, from, to) => {
  await blobs.put(digest, bytes);

  expect((await readAll(plainName, offset, limit)).equals(bytes.subarray(from, to))).toBe(true);
});

test.each([
  [-1n, 0n, "out_of_range"],
  [1_000_001n, 0n, "out_of_range"],
  [0n, -1n, "invalid_argument"],
])("a plain read from %d of at most %d is refused", async (offset, limit, code) => {
  await blobs.put(digest, bytes);

  await expect(readAll(plainName, offset, limit)).rejects.toMatchObject({ code });
});

describe("an upload that was broken off", () => {
  const name = `uploads/one/${plainName}`;

  test("goes on from wherever it was", async () => {
    const points = fc.array(fc.integer({ min: 1, max: bytes.byteLength - 1 }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(points, async (all) => {
        await blobs.remove(digest);
        let at = 0;
        for (const end of [...new Set(all)].toSorted((a, b) => a - b)) {
          const data = bytes.subarray(at, end);
          const part = { name, data, offset: at, sizes: [70_000, 70_000], finish: false };
          await expect(send(part)).rejects.toMatchObject({ code: "invalid_argument" });
          at = await committed(name);
          expect(at).toBe(end);
        }
        const size = await send({ name, data: bytes.subarray(at), offset: at });

        expect(size).toBe(bytes.byteLength);
        expect(bytes.equals((await blobs.get(digest)) ?? Buffer.of())).toBe(true);
      }),
      { numRuns: 8 },
    );
  });

  test("is kept when its client goes away in the middle", async () => {
    const stop = new AbortController();
    async function* half() {
      yield { resourceName: name, data: bytes.subarray(0, 600_000) };
      while ((await committed(name)) < 600_000);
      stop.abort();
      await new Promise(() => {});
    }
    const gone = channel.clientStream(write, half(), { signal: stop.signal });
    await expect(gone).rejects.toMatchObject({ code: "cancelled" });

    const size = await send({ name, data: bytes.subarray(600_000), offset: 600_000 });

    expect(size).toBe(bytes.byteLength);
  });

  test("says what is here to one who goes on elsewhere", async () => {
    await expect(send({ name, data: bytes.subarray(0, 5_000), finish: false })).rejects.toThrow(
      "before it is finished",
    );

    await expect(send({ name, data: bytes.subarray(9_000), offset: 9_000 })).rejects.toMatchObject({
      code: "out_of_range",
      message: expect.stringContaining("continues at 9000, but the server has 5000 bytes"),
    });
    expect(await committed(`uploads/another/${plainName}`)).toBe(0);
  });

  test("goes on packed, by the blob's own bytes, as Bazel does it", async () => {
    const packed = `uploads/one/${packedName}`;
    const data = await zstdWhole(bytes.subarray(0, 524_288));
    await expect(send({ name: packed, data, finish: false }, bazel)).rejects.toThrow(
      "before it is finished",
    );
    const here = await committed(packed, bazel);

    const rest = await zstdWhole(bytes.subarray(here));
    const size = await send({ name: packed, data: rest, offset: here, sizes: [50_000] }, bazel);

    expect(here).toBe(524_288);
    expect(size).toBe(here + rest.byteLength);
    expect(bytes.equals((await blobs.get(digest)) ?? Buffer.of())).toBe(true);
  });

  test("begins again when it is packed and not Bazel's", async () => {
    const packed = `uploads/one/${packedName}`;
    const data = await zstdWhole(bytes.subarray(0, 524_288));
    await expect(send({ name: packed, data, finish: false })).rejects.toThrow(
      "before it is finished",
    );

    expect(await committed(packed)).toBe(0);
    const goingOn = send({ name: packed, data, offset: data.byteLength });
    await expect(goingOn).rejects.toMatchObject({ code: "out_of_range" });
  });
});

test("an upload of a blob whose bytes have changed here heals it, though nobody has read it", async () => {
  for (const packed of [false, true]) {
    await blobs.put(digest, bytes);
    await rm(blobs.path(digest));
    await writeFile(blobs.path(digest), Buffer.from(bytes).fill(7, 500_000, 500_001));

    await send({
      name: `uploads/${packed}/${packed ? packedName : plainName}`,
      data: packed ? await zstdWhole(bytes) : bytes,
    });

    expect(bytes.equals(await readFile(blobs.path(digest)))).toBe(true);
  }
});

test("uploads of stored blobs whose bytes are read slowly delay no upload of another connection", async () => {
  let slowReads = 0;
  let endReads = () => {};
  const readsEnd = new Promise<undefined>((resolve) => {
    endReads = () => resolve(undefined);
  });
  const slow = Object.assign(Object.create(blobs) as typeof blobs, {
    findMissing: async () => [],
    read: () => {
      slowReads++;
      return readsEnd;
    },
  });
  const uploads = await openDiskUploads(await mkdtemp(join(root, "slow-")), blobs);
  const other = grpcServer({
    methods: byteStreamService(
      (project) => (project === "slow" ? slow : blobs),
      () => uploads,
    ),
  });
  other.http2.listen(0, "127.0.0.1");
  await once(other.http2, "listening");
  const at = `http://127.0.0.1:${(other.http2.address() as AddressInfo).port}`;
  const [many, one] = [new GrpcChannel({ url: at }), new GrpcChannel({ url: at })];
  try {
    const waiting = Array.from({ length: 20 }, (_, n) =>
      many.clientStream(write, messages({ name: `slow/uploads/${n}/${plainName}`, data: bytes })),
    );
    await expect.poll(() => slowReads, { interval: 5 }).toBe(20);

    await one.clientStream(write, messages({ name: `uploads/x/${plainName}`, data: bytes }));

    expect(await blobs.findMissing([digest])).toEqual([]);
    endReads();
    await Promise.allSettled(waiting);
  } finally {
    endReads();
    await Promise.all([many.stop(), one.stop(), other.stop()]);
  }
});

test("grpc-js sends a packed blob and reads it back", async () => {
  const client = new Client(url, credentials.createInsecure());
  const data = Buffer.from(await zstdWhole(bytes));
  try {
    const size = await new Promise<bigint>((resolve, reject) => {
      const call = client.makeClientStreamRequest(
        pathOf(write),
        (m: { resourceName?: string; writeOffset?: bigint; data: Buffer; finishWrite?: boolean }) =>
          Buffer.from(toBinary(WriteRequestSchema, create(WriteRequestSchema, m))),
        (encoded: Buffer) => fromBinary(WriteResponseSchema, encoded),
        (error, response) => (error ? reject(error) : resolve(response?.committedSize ?? 0n)),
      );
      const resourceName = `main/uploads/x/${packedName}/a.o`;
      call.write({ resourceName, data: data.subarray(0, 4_000) });
      call.write({ writeOffset: 4_000n, data: data.subarray(4_000), finishWrite: true });
      call.end();
    });
    const call = client.makeServerStreamRequest(
      pathOf(read),
      (m: { resourceName: string }) =>
        Buffer.from(toBinary(ReadRequestSchema, create(ReadRequestSchema, m))),
      (encoded: Buffer) => fromBinary(ReadResponseSchema, encoded),
      { resourceName: `main/${packedName}` },
    );
    const parts: Uint8Array[] = [];
    for await (const { data: part } of call) parts.push(part);

    expect(Number(size)).toBe(data.byteLength);
    expect(bytes.equals(await unzstdWhole(Buffer.concat(parts), bytes.byteLength))).toBe(true);
  } finally {
    client.close();
  }
});
