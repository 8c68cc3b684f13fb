import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type DiskBlobStore, openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { verifying } from "#cas/verifying-blob-store.ts";
import { type Digest, emptyDigest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { sql } from "#db/sql.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { type GrpcServer, grpcServer } from "#grpc/server.ts";
import {
  ChunkingFunction_Value,
  ContentAddressableStorage,
  DigestFunction_Value,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { forgetUnusedChunkLists } from "../chunk-lists/chunk-list.store.ts";
import { chunkLists } from "../chunk-lists/chunk-lists.ts";
import { chunkingService } from "./chunking-service.ts";

const { splitBlob, spliceBlob } = ContentAddressableStorage.method;
const { FAST_CDC_2020, UNKNOWN } = ChunkingFunction_Value;

const db = await freshDb();
afterAll(() => db.close());

let directory: string;
let blobs: DiskBlobStore;
/** Who calls: the reader may not put blobs. */
let caller: "writer" | "reader";
let server: GrpcServer;
let channel: GrpcChannel;
beforeEach(async () => {
  await db.run(sql`delete from chunk_list`);
  directory = await mkdtemp(join(tmpdir(), "grange-chunking-"));
  blobs = await openDiskBlobStore(directory);
  caller = "writer";
  const verified = verifying(blobs, (digest) => blobs.remove(digest));
  server = grpcServer({
    methods: chunkingService({
      blobsFor: () => verified,
      async requireMayWrite() {
        if (caller === "reader") throw new Fault("permission_denied", "reader may not write");
      },
      lists: chunkLists(db),
    }),
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

async function put(bytes: Uint8Array, by: "sha256" | "blake3" = "sha256"): Promise<Digest> {
  const digest = digestOf(bytes, by);
  await blobs.put(digest, bytes);
  return digest;
}

async function split(
  blob: Digest,
  digestFunction: DigestFunction_Value = DigestFunction_Value.UNKNOWN,
) {
  const request = { blobDigest: toDigestMessage(blob), digestFunction };
  const { chunkDigests, chunkingFunction } = await channel.unary(splitBlob, request);
  expect(chunkingFunction).toBe(FAST_CDC_2020);
  return chunkDigests.map((digest) => fromDigestMessage(digest, "a chunk", digestFunction));
}

const splice = (
  blob: Digest,
  chunks: readonly Digest[],
  chunkingFunction: ChunkingFunction_Value = FAST_CDC_2020,
) =>
  channel.unary(spliceBlob, {
    blobDigest: toDigestMessage(blob),
    chunkDigests: chunks.map(toDigestMessage),
    chunkingFunction,
  });

async function bytesOf(digests: readonly Digest[]): Promise<Buffer> {
  const all = await Promise.all(digests.map((digest) => blobs.get(digest)));
  return Buffer.concat(all.map((bytes) => bytes ?? Buffer.from("missing")));
}

describe("splitting and splicing", () => {
  test("are the inverse of each other, for blobs of any size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(3_000_000), async (count) => {
        const bytes = randomBytes(count);
        const blob = await put(bytes);

        const chunks = await split(blob);
        expect((await bytesOf(chunks)).equals(bytes)).toBe(true);
        if (chunks.length > 1) await blobs.remove(blob);
        await splice(blob, chunks);

        expect(Buffer.from((await blobs.get(blob)) ?? []).equals(bytes)).toBe(true);
      }),
      { numRuns: 8 },
    );
  });

  test("keep the digest function of the blob", async () => {
    const bytes = randomBytes(2_500_000);
    const blob = await put(bytes, "blake3");

    const chunks = await split(blob, DigestFunction_Value.BLAKE3);

    expect(chunks.every(({ hash }) => hash.startsWith("blake3-"))).toBe(true);
    expect((await bytesOf(chunks)).equals(bytes)).toBe(true);
  });
});

describe("SplitBlob", () => {
  const large = randomBytes(2_500_000);

  test("returns a blob without bytes as no chunk, and a small one as itself", async () => {
    const small = await put(randomBytes(131_072));

    expect(await split(emptyDigest)).toEqual([]);
    expect(await split(small)).toEqual([small]);
  });

  test("splits for callers who may put blobs; others get what was split before", async () => {
    const blob = await put(large);

    caller = "reader";
    await expect(split(blob)).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining("was not split yet"),
    });
    caller = "writer";
    const chunks = await split(blob);
    caller = "reader";

    expect(await split(blob)).toEqual(chunks);
  });

  test("stores a chunk again that is gone", async () => {
    const blob = await put(large);
    const chunks = await split(blob);
    await blobs.remove(chunks[1] ?? blob);

    expect(await split(blob)).toEqual(chunks);
    expect(await blobs.findMissing(chunks)).toEqual([]);
  });

  test("does not know the chunks of a blob that is gone", async () => {
    const blob = await put(large);
    await split(blob);
    await blobs.remove(blob);

    await expect(split(blob)).rejects.toMatchObject({ code: "not_found" });
  });

  test("refuses a blob that is larger than a list of chunks, before it is read", async () => {
    const huge = { ...(await put(large)), sizeBytes: 2 ** 40 } as Digest;
    // Its file has a terabyte without a block on the disk.
    await rm(blobs.path(huge));
    await writeFile(blobs.path(huge), "");
    await truncate(blobs.path(huge), huge.sizeBytes);

    await expect(split(huge)).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining("it is not split"),
    });
  });

  test("answers four callers at once with one list", async () => {
    const blob = await put(large);

    const lists = await Promise.all([1, 2, 3, 4].map(() => split(blob)));

    expect(new Set(lists.map((list) => JSON.stringify(list))).size).toBe(1);
  });
});

describe("SpliceBlob", () => {
  const halves = [randomBytes(1_000_000), randomBytes(900_000)];
  const whole = digestOf(Buffer.concat(halves));
  const putHalves = () => Promise.all(halves.map((half) => put(half)));

  test("keeps the client's chunks for SplitBlob if their sizes are those of FastCDC", async () => {
    const chunks = await putHalves();

    await splice(whole, chunks);

    caller = "reader";
    expect(await split(whole)).toEqual(chunks);
  });

  test.each([
    ["that FastCDC did not find", UNKNOWN, 1_000_000],
    ["that are too small for FastCDC", FAST_CDC_2020, 1_000],
  ])("keeps no chunks %s", async (_, chunkingFunction, first) => {
    const bytes = Buffer.concat(halves);
    const chunks = [await put(bytes.subarray(0, first)), await put(bytes.subarray(first))];

    await splice(whole, chunks, chunkingFunction);

    expect(await blobs.findMissing([whole])).toEqual([]);
    caller = "reader";
    await expect(split(whole)).rejects.toMatchObject({ code: "not_found" });
  });

  test("needs no chunks of a blob that is here", async () => {
    await put(Buffer.concat(halves));

    const { blobDigest } = await splice(
      whole,
      halves.map((half) => digestOf(half)),
    );

    expect(blobDigest).toEqual(toDigestMessage(whole));
  });

  test("names the chunks that are missing", async () => {
    const [first] = await putHalves();
    if (first !== undefined) await blobs.remove(first);

    await expect(
      splice(
        whole,
        halves.map((half) => digestOf(half)),
      ),
    ).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining(`1 chunk is not here: ${first?.hash}`),
    });
  });

  test("counts a corrupt chunk as missing, so that the client uploads it again", async () => {
    const chunks = await putHalves();
    const [first = whole] = chunks;
    await rm(blobs.path(first));
    await writeFile(blobs.path(first), randomBytes(1_000_000));

    await expect(splice(whole, chunks)).rejects.toMatchObject({ code: "not_found" });
    expect(await blobs.findMissing(chunks)).toEqual([first]);
    await putHalves();
    await splice(whole, chunks);
    expect(await blobs.findMissing([whole])).toEqual([]);
  });

  const other = digestOf(randomBytes(10));
  const named = (count: number) => Array.from({ length: count }, () => other);
  const sized = (sizeBytes: number) => ({ ...whole, sizeBytes }) as Digest;
  test.each<[string, Digest, readonly Digest[]]>([
    ["other bytes", digestOf(randomBytes(1_900_000)), halves.map((half) => digestOf(half))],
    ["chunks that are too short together", sized(30), named(2)],
    ["no chunks", whole, []],
    ["a chunk by another function", whole, [digestOf(Buffer.alloc(1_900_000), "sha1")]],
    ["more chunks than a message takes", sized(550_000), named(55_000)],
    ["a terabyte from one chunk", sized(2 ** 40), [sized(2 ** 40)]],
  ])("refuses %s, and stores nothing", async (_, blob, chunks) => {
    await putHalves();

    await expect(splice(blob, chunks)).rejects.toMatchObject({ code: "invalid_argument" });
    expect(await blobs.findMissing([blob])).toEqual([blob]);
  });

  test("is refused to callers who may not put blobs", async () => {
    const chunks = await putHalves();
    caller = "reader";

    await expect(splice(whole, chunks)).rejects.toMatchObject({ code: "permission_denied" });
  });
});

test("lists of chunks that nobody uses are deleted", async () => {
  const blob = await put(randomBytes(1_000_000));
  await split(blob);
  const inAnHour = new Date(Date.now() + 3_600_000);

  expect(await forgetUnusedChunkLists(db, new Date(Date.now() - 60_000))).toBe(0);
  expect(await forgetUnusedChunkLists(db, inAnHour)).toBe(1);
  caller = "reader";
  await expect(split(blob)).rejects.toMatchObject({ code: "not_found" });
});
