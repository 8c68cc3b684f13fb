import { create } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { zstdWhole } from "#cas/zstd/zstd-streams.ts";
import { digestKey } from "#core/digest.ts";
import {
  Compressor_Value,
  ContentAddressableStorage,
  type Digest as DigestMessage,
  DigestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream, WriteRequestSchema } from "#proto/google/bytestream/bytestream_pb.ts";
import type { HostileCase } from "./hostile-cases.ts";
import { codeIn, codeOf, type Target } from "./hostile-target.ts";

const { findMissingBlobs, batchUpdateBlobs, batchReadBlobs } = ContentAddressableStorage.method;

const bytes = Buffer.from("what a hostile client sends");
const other = Buffer.from("what its digest is that of.");
const claimed = digestOf(other);
const withSize = (sizeBytes: bigint, hash: string = claimed.hash) =>
  create(DigestSchema, { hash, sizeBytes });

/** Returns a case that needs nothing in the store. */
export function bare(
  name: string,
  wanted: HostileCase["wanted"],
  attack: (target: Target) => Promise<string>,
): HostileCase {
  return { name, wanted, prepare: async (target) => () => attack(target) };
}

const update =
  (digest: DigestMessage, data: Uint8Array, compressor: Compressor_Value = 0) =>
  async ({ channel }: Target) => {
    let inside = "no answer";
    const code = await codeOf(async () => {
      const { responses } = await channel.unary(batchUpdateBlobs, {
        requests: [{ digest, data, compressor }],
      });
      inside = codeIn(responses[0]?.status);
    });
    return code === "ok" ? inside : code;
  };

interface Piece {
  readonly resourceName?: string;
  readonly writeOffset?: bigint;
  readonly data?: Uint8Array;
  readonly finishWrite?: boolean;
}

const upload =
  (...pieces: readonly Piece[]) =>
  ({ channel }: Target) =>
    codeOf(() =>
      channel.clientStream(
        ByteStream.method.write,
        (async function* () {
          for (const piece of pieces) yield create(WriteRequestSchema, piece);
        })(),
      ),
    );
const uploadName = (key: string, packed = false) =>
  `uploads/hostile/${packed ? "compressed-blobs/zstd" : "blobs"}/${key}`;

const read =
  (resourceName: string, readOffset = 0n, readLimit = 0n) =>
  ({ channel }: Target) =>
    codeOf(async () => {
      const request = { resourceName, readOffset, readLimit };
      for await (const _ of channel.serverStream(ByteStream.method.read, request));
    });

const ask =
  (digest: DigestMessage, instanceName = "") =>
  ({ channel }: Target) =>
    codeOf(() => channel.unary(findMissingBlobs, { instanceName, blobDigests: [digest] }));

const zeros = Buffer.alloc(64 * 1024 * 1024);
const bomb = zstdWhole(zeros);

const names = [
  "../../../etc/passwd",
  `blobs/../../${claimed.hash}/5`,
  `blobs/${"..%2f".repeat(20)}/5`,
  `blobs/${claimed.hash}/1e3`,
  `blobs/${claimed.hash}/0x10`,
  `blobs/${claimed.hash}/+5`,
  `blobs/${claimed.hash.toUpperCase()}/5`,
  `../blobs/${digestKey(claimed)}`,
  `a/../b/blobs/${digestKey(claimed)}`,
  `a//b/blobs/${digestKey(claimed)}`,
  `a\u0000b/blobs/${digestKey(claimed)}`,
  `operations/blobs/${digestKey(claimed)}`,
  `${"x".repeat(200)}/blobs/${digestKey(claimed)}`,
  "x".repeat(1_000_000),
];

/** Wrong digests, wrong sizes, and names that lead elsewhere. */
export const hostileBlobs: readonly HostileCase[] = [
  bare("a batch with other bytes", "invalid_argument", update(toDigestMessage(claimed), bytes)),
  bare("a batch that says fewer bytes", "invalid_argument", update(withSize(3n), other)),
  bare("a batch that says more bytes", "invalid_argument", update(withSize(1_000n), other)),
  bare("a batch with a size below 0", "invalid_argument", update(withSize(-1n), other)),
  bare("a batch that says 2 GiB", "invalid_argument", update(withSize(2n ** 31n), other, 1)),
  bare(
    "a batch in no known packing",
    "invalid_argument",
    update(toDigestMessage(claimed), other, 77 as 0),
  ),
  bare("a read of a 2 GiB batch", "invalid_argument", ({ channel }) =>
    codeOf(() => channel.unary(batchReadBlobs, { digests: [withSize(2n ** 31n)] })),
  ),
  bare("a blob of 2^63 - 1 bytes", "invalid_argument", ask(withSize(2n ** 63n - 1n))),
  bare("a hash with a path in it", "invalid_argument", ask(withSize(5n, "../../../../etc/passwd"))),
  bare("a hash in capitals", "invalid_argument", ask(withSize(5n, claimed.hash.toUpperCase()))),
  ...["..", "../x", "a/../b", "a//b", "/a", "blobs", "a b", "x".repeat(129), "a\u0000"].map(
    (name) =>
      bare(
        `the instance ${JSON.stringify(name.slice(0, 10))}`,
        "invalid_argument",
        ask(toDigestMessage(claimed), name),
      ),
  ),
  ...names.flatMap((name) => [
    bare(`a read of ${JSON.stringify(name.slice(0, 24))}`, "invalid_argument", read(name)),
    bare(
      `an upload to ${JSON.stringify(name.slice(0, 24))}`,
      "invalid_argument",
      upload({
        resourceName: name.replace("blobs/", "uploads/u/blobs/"),
        data: other,
        finishWrite: true,
      }),
    ),
  ]),
  bare(
    "an upload of other bytes",
    "invalid_argument",
    upload({ resourceName: uploadName(digestKey(claimed)), data: bytes, finishWrite: true }),
  ),
  bare(
    "an upload of more bytes",
    "invalid_argument",
    upload({
      resourceName: uploadName(digestKey(claimed)),
      data: zeros.subarray(0, 1_000_000),
      finishWrite: true,
    }),
  ),
  bare(
    "an upload of fewer bytes",
    "invalid_argument",
    upload({
      resourceName: uploadName(digestKey(claimed)),
      data: other.subarray(1),
      finishWrite: true,
    }),
  ),
  bare(
    "an upload that says petabytes",
    // More than the daily quota; without a quota, its bytes do not match its name.
    ["resource_exhausted", "invalid_argument"],
    upload({
      resourceName: uploadName(`${claimed.hash}/${2 ** 52}`),
      data: other,
      finishWrite: true,
    }),
  ),
  bare(
    "an upload from below 0",
    "out_of_range",
    upload({
      resourceName: uploadName(digestKey(claimed)),
      writeOffset: -5n,
      data: other,
      finishWrite: true,
    }),
  ),
  bare(
    "an upload from where nothing is",
    "out_of_range",
    upload({
      resourceName: uploadName(digestKey(claimed)),
      writeOffset: 5n,
      data: other.subarray(5),
      finishWrite: true,
    }),
  ),
  bare(
    "an upload that leaps",
    "invalid_argument",
    upload(
      { resourceName: uploadName(`${claimed.hash}/100`), data: other },
      { writeOffset: 90n, data: other.subarray(0, 10), finishWrite: true },
    ),
  ),
  bare(
    "an upload that becomes another's",
    "invalid_argument",
    upload(
      { resourceName: uploadName(digestKey(claimed)), data: other.subarray(0, 5) },
      {
        resourceName: uploadName(`${"0".repeat(64)}/27`),
        writeOffset: 5n,
        data: other.subarray(5),
        finishWrite: true,
      },
    ),
  ),
  bare("a zstd bomb by an upload", "invalid_argument", async (target) =>
    upload({
      resourceName: uploadName(`${claimed.hash}/1000`, true),
      data: await bomb,
      finishWrite: true,
    })(target),
  ),
  bare("a zstd bomb in a batch", "invalid_argument", async (target) =>
    update(withSize(1_000n), await bomb, Compressor_Value.ZSTD)(target),
  ),
  bare(
    "zstd that is none",
    "invalid_argument",
    upload({ resourceName: uploadName(digestKey(claimed), true), data: bytes, finishWrite: true }),
  ),
  bare("a read from below 0", "out_of_range", read(`blobs/${digestKey(claimed)}`, -1n)),
  bare("a read to below 0", "invalid_argument", read(`blobs/${digestKey(claimed)}`, 0n, -1n)),
  bare("a read from beyond 2^53", "out_of_range", read(`blobs/${digestKey(claimed)}`, 2n ** 62n)),
];
