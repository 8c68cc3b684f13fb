import assert from "node:assert/strict";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { zstdWhole } from "#cas/zstd/zstd-streams.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { hostileBlobs } from "../build-tools/hostile-blobs.ts";
import { codeIn, codeOf } from "../build-tools/hostile-target.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type HostileFarm } from "./hostile-farm.ts";
import { isOneOf, tried } from "./known-attacks.ts";
import { openFarm } from "./open-farm.ts";
import { fresh, isStored, nameOf, refused, upload } from "./upload-attempts.ts";

const { batchUpdateBlobs, batchReadBlobs } = ContentAddressableStorage.method;
const MiB = 1_048_576;

const illegalHashes = ["a".repeat(63), "a".repeat(65), "", " ".repeat(64), "g".repeat(64)];
/** Frames that every decoder skips: they have no output, however many there are. */
const skippable = Buffer.concat(
  Array.from({ length: 64 }, () =>
    Buffer.concat([Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 1, 0]), Buffer.alloc(65_536)]),
  ),
);

const more: readonly HostileCase<HostileFarm>[] = [
  ...illegalHashes.map((hash) => ({
    name: `a batch under the hash ${JSON.stringify(hash.slice(0, 3))}… of ${hash.length} signs`,
    async run({ channel }: HostileFarm) {
      const data = fresh("hash");
      const digest = { hash, sizeBytes: BigInt(data.byteLength) };
      const code = await codeOf(async () => {
        const { responses } = await channel.unary(batchUpdateBlobs, {
          requests: [{ digest, data }],
        });
        if (codeIn(responses[0]?.status) !== "invalid_argument") throw new Error("it was taken");
      });
      isOneOf(code, "ok", "invalid_argument");
    },
  })),
  {
    name: "a batch in an unknown digest function",
    async run(farm) {
      const data = fresh("function");
      const digest = digestOf(data);
      const requests = [{ digest: toDigestMessage(digest), data }];
      const asked = { requests, digestFunction: 77 as 0 };
      let inside = "ok";
      const code = await codeOf(async () => {
        const { responses } = await farm.channel.unary(batchUpdateBlobs, asked);
        inside = codeIn(responses[0]?.status);
      });
      isOneOf(code === "ok" ? inside : code, "invalid_argument", "unimplemented");
      assert.equal(await isStored(farm, digest), false);
    },
  },
  {
    name: "the empty blob's hash with a size",
    async run({ channel }) {
      const { hash } = digestOf(Buffer.of());
      const digests = [{ hash, sizeBytes: 9n }];
      const { responses } = await channel.unary(batchReadBlobs, { digests });
      isOneOf(codeIn(responses[0]?.status), "not_found", "invalid_argument");
    },
  },
  {
    name: "a blob's hash with another size than it has",
    async run(farm) {
      const bytes = fresh("its size");
      const digest = digestOf(bytes);
      await farm.blobs.put(digest, bytes);
      const other = { hash: digest.hash, sizeBytes: BigInt(digest.sizeBytes + 1) };
      const { responses } = await farm.channel.unary(batchReadBlobs, { digests: [other] });
      isOneOf(codeIn(responses[0]?.status), "not_found", "invalid_argument");
    },
  },
  {
    name: "two simultaneous writers of one name, one with other bytes",
    async run(farm) {
      const bytes = fresh("two writers");
      const digest = digestOf(bytes);
      const wrong = Buffer.from(bytes).fill("x");
      const resourceName = nameOf(digest);
      const [, bad] = await Promise.all([
        upload(farm, [{ resourceName, data: bytes, finishWrite: true }]),
        upload(farm, [{ resourceName, data: wrong, finishWrite: true }]),
      ]);
      // If the blob exists, the client gets OK, and its bytes are not read.
      isOneOf(bad, "invalid_argument", "aborted", "unavailable", "ok");
      await upload(farm, [{ resourceName, data: bytes, finishWrite: true }]);
      assert.deepEqual(Buffer.from((await farm.blobs.get(digest)) ?? []), bytes);
    },
  },
  {
    name: "ten simultaneous writers of one name, each with half of it",
    async run(farm) {
      const bytes = Buffer.alloc(2 * MiB, String(process.hrtime.bigint()));
      const digest = digestOf(bytes);
      const half = [{ resourceName: nameOf(digest), data: bytes.subarray(0, MiB) }];
      const codes = await Promise.all(Array.from({ length: 10 }, () => upload(farm, half)));
      for (const code of codes) assert.notEqual(code, "internal");
      assert.equal(await isStored(farm, digest), false);
      await farm.blobs.put(digest, bytes);
      assert.equal(await isStored(farm, digest), true);
    },
  },
  {
    name: "an upload of 2 GiB under the name of a kilobyte (64 MiB in the short run)",
    alone: true,
    async run(farm) {
      const chunk = Buffer.alloc(MiB, 7);
      const digest = { ...digestOf(fresh("large")), sizeBytes: 1_000 };
      const many = farm.full ? 2_048 : 64;
      const code = await upload(
        farm,
        (function* () {
          yield { resourceName: nameOf(digest), data: chunk };
          for (let n = 1; n < many; n++) yield { writeOffset: BigInt(n * MiB), data: chunk };
        })(),
      );
      isOneOf(code, "invalid_argument");
    },
  },
  {
    name: "a batch of 2 GiB, one blob 500 times",
    alone: true,
    async run({ channel }) {
      const bytes = Buffer.alloc(4 * MiB - 1_000, 1);
      const digest = digestOf(bytes);
      const asked = { digests: Array.from({ length: 500 }, () => toDigestMessage(digest)) };
      await channel.unary(batchUpdateBlobs, {
        requests: [{ digest: toDigestMessage(digest), data: bytes }],
      });
      isOneOf(await codeOf(() => channel.unary(batchReadBlobs, asked)), "invalid_argument");
    },
  },
  refused("bytes after the write was finished", "invalid_argument", (bytes, digest) => [
    { resourceName: nameOf(digest), data: bytes.subarray(0, 5), finishWrite: true },
    { writeOffset: 5n, data: bytes.subarray(5) },
  ]),
  refused("a finish without a byte", "invalid_argument", (_, digest) => [
    { resourceName: nameOf(digest), finishWrite: true },
  ]),
  refused("no name at all", "invalid_argument", (bytes) => [{ data: bytes, finishWrite: true }]),
  refused("a stream of nothing", "invalid_argument", () => []),
  refused("a packing that nobody knows", "invalid_argument|unimplemented", (bytes, digest) => [
    { resourceName: nameOf(digest, "a", "brotli"), data: bytes, finishWrite: true },
  ]),
  refused("a size with a nought in front", "invalid_argument", (bytes, { hash, sizeBytes }) => [
    { resourceName: `uploads/a/blobs/${hash}/0${sizeBytes}`, data: bytes, finishWrite: true },
  ]),
  refused("zstd that is cut short", "invalid_argument", async (bytes, digest) => [
    {
      resourceName: nameOf(digest, "a", "zstd"),
      data: (await zstdWhole(bytes)).subarray(0, -5),
      finishWrite: true,
    },
  ]),
  refused("zstd with a window of 2 GiB", "invalid_argument", (_, digest) => [
    {
      resourceName: nameOf(digest, "a", "zstd"),
      // Frame header without a single segment; the window descriptor has 31 bits.
      data: Buffer.from("28b52ffd00a8010000", "hex"),
      finishWrite: true,
    },
  ]),
  refused("4 MiB of zstd frames with nothing in them", "invalid_argument", (_, digest) => [
    {
      resourceName: nameOf(digest, "a", "zstd"),
      data: skippable.subarray(0, 2 * MiB),
    },
    {
      writeOffset: BigInt(2 * MiB),
      data: skippable.subarray(2 * MiB),
      finishWrite: true,
    },
  ]),
  {
    name: "the state of an upload to a place outside",
    async run({ channel }) {
      const asked = { resourceName: "uploads/../../../etc/blobs/passwd/5" };
      const code = await codeOf(() => channel.unary(ByteStream.method.queryWriteStatus, asked));
      isOneOf(code, "invalid_argument", "not_found");
    },
  },
  {
    name: "an upload's id that is a path, and one of 10,000 signs",
    async run(farm) {
      const bytes = fresh("id");
      for (const id of ["..", "../../x", "x".repeat(10_000), "a\u0000b"]) {
        const resourceName = nameOf(digestOf(bytes), id);
        const code = await upload(farm, [{ resourceName, data: bytes.subarray(0, 3) }]);
        isOneOf(code, "invalid_argument");
      }
      const kept = await farm.kept();
      assert.equal(
        kept.some((name) => name.includes("..")),
        false,
      );
    },
  },
];

export const casUploadSuite: HostileSuite<HostileFarm> = {
  interface: "REv2: uploads of blobs",
  atLeast: 40,
  cases: [...tried(hostileBlobs), ...more],
  open: openFarm,
};
