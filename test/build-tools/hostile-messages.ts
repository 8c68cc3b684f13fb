import { gzipSync } from "node:zlib";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { digestOf } from "#cas/digest-of.ts";
import {
  ActionCache,
  ContentAddressableStorage,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { PublishBuildEvent } from "#proto/google/devtools/build/v1/publish_build_event_pb.ts";
import { Operations } from "#proto/google/longrunning/operations_pb.ts";
import { bare } from "./hostile-blobs.ts";
import type { HostileCase } from "./hostile-cases.ts";
import { codeOf, frameOf } from "./hostile-target.ts";

const { findMissingBlobs } = ContentAddressableStorage.method;
const build = PublishBuildEvent.method.publishBuildToolEventStream;

const noise = Buffer.from("ff".repeat(64), "hex");

/** Nested groups of maximum depth. */
const nested = Buffer.concat([Buffer.alloc(500_000, 0x7b), Buffer.alloc(500_000, 0x7c)]);

/** `count` times field `number`: two bytes each in the message, and an object each in memory. */
const empties = (number: number, count: number) =>
  Buffer.alloc(count * 2, Buffer.from([(number << 3) | 2, 0]));

const head = (length: number, flag = 0) => {
  const bytes = Buffer.alloc(5);
  bytes[0] = flag;
  bytes.writeUInt32BE(length, 1);
  return bytes;
};

const packed = (bytes: Uint8Array) => {
  const small = gzipSync(bytes);
  return Buffer.concat([head(small.byteLength, 1), small]);
};

const takers = [
  findMissingBlobs,
  ContentAddressableStorage.method.batchUpdateBlobs,
  ContentAddressableStorage.method.getTree,
  ActionCache.method.updateActionResult,
  Execution.method.execute,
  ByteStream.method.read,
  ByteStream.method.write,
  build,
];

const operation = (name: string) =>
  bare(
    `the operation ${JSON.stringify(name.slice(0, 20))}`,
    ["not_found", "invalid_argument"],
    ({ channel }) => codeOf(() => channel.unary(Operations.method.getOperation, { name })),
  );

/** An event of a build, as bytes: our own client cannot write such events. */
function event(sequence: bigint, invocation: string, value: Uint8Array): Buffer {
  const any = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string("type.googleapis.com/build_event_stream.BuildEvent")
    .tag(2, WireType.LengthDelimited)
    .bytes(value)
    .finish();
  const told = new BinaryWriter().tag(60, WireType.LengthDelimited).bytes(any).finish();
  const stream = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string("hostile")
    .tag(6, WireType.LengthDelimited)
    .string(invocation)
    .tag(3, WireType.Varint)
    .int32(3)
    .finish();
  const ordered = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .bytes(stream)
    .tag(2, WireType.Varint)
    .int64(sequence)
    .tag(3, WireType.LengthDelimited)
    .bytes(told)
    .finish();
  return frameOf(new BinaryWriter().tag(4, WireType.LengthDelimited).bytes(ordered).finish());
}

const put = (path: string, rest: string) =>
  `PUT ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n${rest}`;
const hash = digestOf(Buffer.from("nothing like it")).hash;

/** Invalid messages, too large, too deep, with too many parts; headers; requests of caches. */
export const hostileMessages: readonly HostileCase[] = [
  ...takers.flatMap((method) => [
    bare(`${method.name} of noise`, "internal", ({ raw }) => raw(method, [frameOf(noise)])),
    bare(`${method.name} of groups 500,000 deep`, "internal", ({ raw }) =>
      raw(method, [frameOf(nested)]),
    ),
    bare(`${method.name} cut short`, "internal", ({ raw }) =>
      raw(method, [frameOf(Buffer.alloc(90)).subarray(0, 50)]),
    ),
    bare(`${method.name} of 2 GiB`, "resource_exhausted", ({ raw }) =>
      raw(method, [head(2 ** 31)], { end: false }),
    ),
    bare(`${method.name} of 2,000,000 unknown fields`, "resource_exhausted", ({ raw }) =>
      raw(method, [frameOf(empties(15, 2_000_000))]),
    ),
  ]),
  bare("FindMissing of 2,000,000 empty digests", "invalid_argument", ({ raw }) =>
    raw(findMissingBlobs, [frameOf(empties(2, 2_000_000))]),
  ),
  bare("FindMissing of 100 MB", "resource_exhausted", ({ raw }) =>
    raw(findMissingBlobs, [head(100_000_000), Buffer.alloc(65_536)], { end: false }),
  ),
  bare("a gzip bomb", "resource_exhausted", ({ raw }) =>
    raw(findMissingBlobs, [packed(Buffer.alloc(64 * 1_048_576))], {
      headers: { "grpc-encoding": "gzip" },
    }),
  ),
  bare("a call in no known encoding", "unimplemented", ({ raw }) =>
    raw(findMissingBlobs, [packed(noise)], { headers: { "grpc-encoding": "snappy" } }),
  ),
  bare("a message that begins with 7", "internal", ({ raw }) =>
    raw(findMissingBlobs, [head(5, 7), Buffer.alloc(5)]),
  ),
  bare("headers of 1 MiB", ["reset 7", "reset 11"], ({ raw }) =>
    raw(findMissingBlobs, [], {
      headers: Object.fromEntries(
        Array.from({ length: 64 }, (_, n) => [`x-${n}`, "x".repeat(16_000)]),
      ),
    }),
  ),
  bare("metadata that is none", "ok", ({ raw }) =>
    raw(findMissingBlobs, [frameOf(Buffer.of())], {
      headers: {
        "build.bazel.remote.execution.v2.requestmetadata-bin": noise.toString("base64"),
        "grpc-timeout": "-5Z",
      },
    }),
  ),
  bare("a token that is none", "unauthenticated", ({ raw }) =>
    raw(findMissingBlobs, [frameOf(Buffer.of())], { headers: { authorization: "Bearer x" } }),
  ),
  ...[
    "",
    "../x",
    "operations/../../x",
    `operations/${"9".repeat(100_000)}`,
    "operations/a\u0000",
  ].map(operation),
  bare("a build event numbered 0", "invalid_argument", ({ raw }) =>
    raw(build, [event(0n, "hostile-0", Buffer.of())]),
  ),
  bare("a build event numbered 2^62", ["aborted", "invalid_argument"], ({ raw }) =>
    raw(build, [event(2n ** 62n, "hostile-1", Buffer.of())]),
  ),
  bare("a build event of an invocation named by a novel", "invalid_argument", ({ raw }) =>
    raw(build, [event(1n, "x".repeat(100_000), Buffer.of())]),
  ),
  bare("a build event of an invocation with control characters", "invalid_argument", ({ raw }) =>
    raw(build, [event(1n, "a\u0000\u001b[2J", Buffer.of())]),
  ),
  ...[
    ["../../../../etc/passwd", "400"],
    ["/cache/../../etc/passwd", ["400", "404"]],
    ["/cache/p/gradle/..%2f..%2fetc%2fpasswd", ["400", "404"]],
    ["/cache/p/gradle/a%00b", ["400", "404"]],
    [`/cache/${"p".repeat(129)}/gradle/a`, "400"],
    [`/cache/blobs/gradle/a`, "400"],
    [`/cache/p/sccache/${"a/".repeat(2_000)}b`, ["400", "404"]],
    [`/cache/p/bazel/cas/../ac/${hash}`, ["400", "404"]],
    [`/cache/p/bazel/cas/${hash.toUpperCase()}`, ["400", "404"]],
  ].map(([path, wanted]) =>
    bare(`PUT ${String(path).slice(0, 40)}`, wanted as HostileCase["wanted"], ({ http1 }) =>
      http1(put(String(path), "content-length: 1\r\n\r\nx")),
    ),
  ),
  bare("PUT with headers of 1 MiB", "431", ({ http1 }) =>
    http1(put("/cache/p/gradle/a", `x-a: ${"x".repeat(1_000_000)}\r\n\r\n`)),
  ),
  bare("PUT of other bytes to a blob's name", "400", ({ http1 }) =>
    http1(put(`/cache/p/bazel/cas/${hash}`, "content-length: 5\r\n\r\nother")),
  ),
  bare("PUT that says petabytes", "413", ({ http1 }) =>
    http1(put("/cache/p/gradle/a", "content-length: 9007199254740991\r\n\r\nx")),
  ),
  bare("PUT with two lengths", "400", ({ http1 }) =>
    http1(put("/cache/p/gradle/a", "content-length: 4\r\ncontent-length: 5\r\n\r\ngood!")),
  ),
  bare("PUT with a length and chunks", "400", ({ http1 }) =>
    http1(
      put("/cache/p/gradle/a", "content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
    ),
  ),
  bare("PUT for another host", "403", ({ http1 }) =>
    http1(
      "PUT /cache/p/gradle/a HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx",
    ),
  ),
  bare("a request that is none", "400", ({ http1 }) => http1("\u0000\u0001\u0002\r\n\r\n")),
];
