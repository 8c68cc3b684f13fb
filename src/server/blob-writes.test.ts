import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { zstdWhole } from "#cas/zstd/zstd-streams.ts";
import {
  BatchUpdateBlobsRequestSchema,
  ContentAddressableStorage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream, WriteRequestSchema } from "#proto/google/bytestream/bytestream_pb.ts";
import { type Asker, aClosedFarm, blobsOf } from "./two-projects.fixture.ts";

let farm: Awaited<ReturnType<typeof aClosedFarm>>;
const mebibyte = 1024 * 1024;
beforeAll(async () => {
  farm = await aClosedFarm({ GRANGE_WRITE_QUOTA: "8M" });
});
afterAll(() => farm.stop());

/** Returns different bytes for each call. */
function aBlob(seed: string, size = 40) {
  const bytes = Buffer.alloc(size, seed);
  return { bytes, digest: digestOf(bytes) };
}

const batch = async ({ channel, project }: Asker, { bytes, digest }: ReturnType<typeof aBlob>) => {
  const request = create(BatchUpdateBlobsRequestSchema, {
    instanceName: project,
    requests: [{ digest: toDigestMessage(digest), data: bytes }],
  });
  const { responses } = await channel.unary(
    ContentAddressableStorage.method.batchUpdateBlobs,
    request,
  );
  return responses[0]?.status;
};

/** Writes as a client that compresses: `sizeBytes` is the size that the client states for the unpacked bytes. */
const streamPacked = (
  { channel, project }: Asker,
  packed: Uint8Array,
  hash: string,
  size: number,
) =>
  channel.clientStream(
    ByteStream.method.write,
    one(
      create(WriteRequestSchema, {
        resourceName: `${project}/uploads/00000000-0000-4000-8000-000000000000/compressed-blobs/zstd/${hash}/${size}`,
        data: packed,
        finishWrite: true,
      }),
    ),
  );

async function* one<T>(message: T): AsyncGenerator<T> {
  yield message;
}

test("nobody writes blobs on a closed farm without a right to, by any call, and nothing is kept", async () => {
  const weak = await farm.tokenOf("weak", []);
  const submits = await farm.tokenOf("submits", ["submit"]);
  for (const token of ["", weak, submits]) {
    for (const project of ["default", "begun"]) {
      const asker = farm.asker(project, token);
      const blob = aBlob(`nobody's ${token} ${project}`);

      await expect(batch(asker, blob)).rejects.toMatchObject({ code: "permission_denied" });
      await expect(
        streamPacked(asker, await zstdWhole(blob.bytes), blob.digest.hash, blob.bytes.byteLength),
      ).rejects.toThrow(/may not execute (in|anywhere) .*grange grant add/);
      expect(await blobsOf(asker).findMissing([blob.digest])).toEqual([blob.digest]);
    }
  }
});

test.each(["execute", "cache", "report", "work"])("who holds %s writes", async (verb) => {
  const asker = farm.asker("default", await farm.tokenOf(`who-${verb}`, [verb]));
  const blob = aBlob(verb);

  await blobsOf(asker).put(blob.digest, blob.bytes);

  expect(await blobsOf(asker).findMissing([blob.digest])).toEqual([]);
});

test("a few bytes that unpack to more than is left are refused by what they would unpack to, before they are read", async () => {
  const asker = farm.asker("default", await farm.tokenOf("packer", ["execute"]));
  const size = 64 * mebibyte;
  const letters = Buffer.alloc(size, "a");
  const packed = await zstdWhole(letters);
  const hash = createHash("sha256").update(letters).digest("hex");
  expect(packed.byteLength).toBeLessThan(mebibyte);

  await expect(streamPacked(asker, packed, hash, size)).rejects.toMatchObject({
    code: "resource_exhausted",
    message: expect.stringMatching(
      /packer has written 0 of 8388608 bytes into default on .*67108864 more are too many/,
    ),
  });

  // Nothing was counted yet, so a blob that fits is accepted.
  const blob = aBlob("fits", 2 * mebibyte);
  await blobsOf(asker).put(blob.digest, blob.bytes);
});

test("entries of HTTP caches count against the same quota", async () => {
  const token = await farm.tokenOf("cacher", ["cache"]);
  const put = (name: string, body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>) =>
    fetch(`${farm.server.url.replace(/\/$/, "")}/cache/default/gradle/${name}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}` },
      body,
      ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
    } as RequestInit);

  expect((await put("one", new Uint8Array(6 * mebibyte))).status).toBeLessThan(300);
  const announced = await put("two", new Uint8Array(3 * mebibyte));
  const inPieces = await put("three", new Blob([new Uint8Array(3 * mebibyte)]).stream());

  expect([announced.status, inPieces.status]).toEqual([429, 429]);
});
