import { compress } from "@bokuweb/zstd-wasm";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { cacheAddressOf } from "#caches/cache-address.ts";
import { spanRequested } from "#caches/http/byte-range.ts";
import { parseLogStreamName } from "#caches/rev2/log-stream-name.ts";
import { parseReadName, parseWriteName } from "#caches/rev2/resource-name.ts";
import { rulesOf } from "#caches/rules-of.ts";
import { decodeDirectory, encodeDirectory } from "#cas/directory-message.ts";
import { decodeTree, openTree } from "#cas/tree-message.ts";
import { ZstdDecoder } from "#cas/zstd/zstd-decoder.ts";
import { zstdInWebAssembly } from "#cas/zstd/zstd-frame.ts";
import { decodeIndex } from "#commit-index/decode-index.ts";
import { CsexpParser, parseCsexp } from "#granary/dune/csexp.ts";
import { readMessage as readDuneMessage } from "#granary/dune/dune-protocol.ts";
import { readMessage as readGranaryMessage } from "#granary/protocol/messages.ts";
import { readValue } from "#granary/protocol/result-value.ts";
import { decodeGrpcMessage } from "#grpc/grpc-message.ts";
import { parseGrpcTimeout } from "#grpc/grpc-timeout.ts";
import { readBazelEvent } from "#invocations/build-events/read-bazel-event.ts";
import {
  ActionResultSchema,
  DirectorySchema,
  TreeSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { BuildEventSchema } from "#proto/build_event_stream/build_event_stream_pb.ts";
import { CommitIndexSchema } from "#proto/grange/granary/v1/granary_pb.ts";
import { parseLogPosition } from "#server/http/log-position.ts";
import { parseIssuedToken } from "#sign-in/issuers/issued-token.ts";
import { BrokenLaw, type FuzzTarget } from "./fuzz.ts";

const digest = { hash: "ab".repeat(32), sizeBytes: 12n };
const directory = create(DirectorySchema, {
  files: [
    { name: "a.c", digest, isExecutable: true },
    { name: "b.c", digest },
  ],
  directories: [{ name: "lib", digest }],
  symlinks: [{ name: "link", target: "../x" }],
});
const decodeRefusal = [Error];
const mostUnpacked = 1_048_576;

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** What build tools, granaries and workers send. */
export async function protocolTargets(): Promise<FuzzTarget[]> {
  await zstdInWebAssembly();
  return [
    {
      name: "directory of a tree",
      seeds: [toBinary(DirectorySchema, directory), new Uint8Array()],
      words: [toBinary(DirectorySchema, directory), "\n\u0003a.c", ".."],
      read(bytes) {
        const message = decodeDirectory(bytes);
        const names = [...message.files, ...message.directories].map(({ name }) => name);
        if (names.some((name) => name === "" || name === ".." || name.includes("/")))
          throw new BrokenLaw(`a name leaves its directory: ${names.join(" ")}`);
        return encodeDirectory(message);
      },
    },
    {
      name: "whole tree",
      seeds: [
        toBinary(TreeSchema, create(TreeSchema, { root: directory, children: [directory] })),
        toBinary(TreeSchema, create(TreeSchema, { root: {} })),
      ],
      words: [toBinary(DirectorySchema, directory)],
      read: async (bytes) => openTree(await decodeTree(bytes), "sha256"),
    },
    {
      name: "action result",
      seeds: [
        toBinary(
          ActionResultSchema,
          create(ActionResultSchema, {
            outputFiles: [{ path: "out/a.o", digest }],
            outputDirectories: [{ path: "out/d", treeDigest: digest }],
            exitCode: 3,
            stdoutRaw: Buffer.from("text"),
          }),
        ),
      ],
      words: ["out/a.o", "../"],
      // The library refuses by errors of its own; a crash would be a stack or memory that runs out.
      refusals: decodeRefusal,
      read: (bytes) => withoutRangeError(() => fromBinary(ActionResultSchema, bytes)),
    },
    {
      name: "Bazel's build event",
      seeds: [
        toBinary(
          BuildEventSchema,
          create(BuildEventSchema, {
            payload: { case: "progress", value: { stderr: Buffer.from("INFO: x") } },
          }),
        ),
        toBinary(
          BuildEventSchema,
          create(BuildEventSchema, {
            id: { id: { case: "targetCompleted", value: { label: "//a:b" } } },
            payload: { case: "completed", value: { success: true } },
          }),
        ),
      ],
      words: ["//a:b", "--flag=secret"],
      read(bytes) {
        let event: ReturnType<typeof decodeEvent>;
        try {
          event = decodeEvent(bytes);
        } catch (reason) {
          if (reason instanceof RangeError && /stack/.test(reason.message)) throw reason;
          return undefined;
        }
        return readBazelEvent(event, "main");
      },
    },
    {
      name: "index of a commit",
      seeds: [
        toBinary(
          CommitIndexSchema,
          create(CommitIndexSchema, {
            base: digest,
            entries: [
              { result: { namespace: "results", key: "ab/cd" }, blobs: [digest], firstMs: 3 },
            ],
            removed: [{ namespace: "results", key: "x" }],
          }),
        ),
      ],
      words: ["ab/cd"],
      read: decodeIndex,
    },
    {
      name: "zstd",
      seeds: [
        compress(Buffer.from("abc ".repeat(300)), 3),
        compress(Buffer.from(Array.from({ length: 600 }, (_, n) => (n * 131) & 255)), 19),
        compress(Buffer.alloc(5_000), 1),
      ],
      words: [Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd), Uint8Array.of(0x50, 0x2a, 0x4d, 0x18)],
      read(bytes) {
        const decoder = new ZstdDecoder(mostUnpacked);
        let unpacked = 0;
        for (const part of decoder.push(bytes)) unpacked += part.byteLength;
        decoder.end();
        if (unpacked > mostUnpacked) throw new BrokenLaw(`it unpacked ${unpacked} bytes`);
        return unpacked;
      },
    },
    {
      name: "names of blobs and logs",
      seeds: [
        `main/blobs/${digest.hash}/12`,
        `compressed-blobs/zstd/${digest.hash}/12`,
        `a/b/uploads/0f6a9d0b-0000-4000-8000-000000000000/blobs/${digest.hash}/12/more`,
        "main/logs/0f6a9d0b-0000-4000-8000-000000000000/1/stdout",
      ],
      words: ["/", "..", "blobs", "uploads", "compressed-blobs", "zstd", "sha384", "-1", "%2F"],
      read(bytes) {
        const name = textOf(bytes);
        const log = parseLogStreamName(name);
        if (log !== undefined) return log;
        return name.includes("uploads") ? parseWriteName(name) : parseReadName(name);
      },
    },
    {
      name: "requests of tools' caches",
      seeds: [
        `GET /cache/main/bazel/ac/${digest.hash}`,
        `PUT /cache/main/bazel/cas/${digest.hash}`,
        "PUT /cache/main/ccache/ab/cdef0123456789",
        "GET /cache/team%2Fx/sccache/a/b/c/abcdef",
        "PUT /cache/main/turborepo/v8/artifacts/0123abcd?teamId=t&slug=s",
        "POST /cache/main/turborepo/v8/artifacts?teamId=t",
        "PUT /cache/main/nx/v1/cache/123",
        "GET /cache/main/gradle/0123456789abcdef0123456789abcdef",
        "DELETE /cache/main/ccache/ab/cdef0123456789",
      ],
      words: ["/", "..", "%2e%2e", "%00", "?teamId=", "bazel", "v8/artifacts", "MKCOL ", "\u0000"],
      read(bytes) {
        const [method = "", url = ""] = textOf(bytes).split(" ");
        const address = cacheAddressOf(url);
        const lookup = rulesOf[address.tool].lookupOf({
          ...address,
          method,
          header: () => url.slice(-40),
        });
        if ("key" in lookup && /(^|\/)\.\.(\/|$)|\0/.test(lookup.key))
          throw new BrokenLaw(`the key ${lookup.key} leaves its directory`);
        return lookup;
      },
    },
    {
      name: "headers",
      seeds: ["bytes=0-99", "bytes=-5", "20S", "100m", "a%20b%C3%A9", "3:1024", "77"],
      words: ["bytes=", "-", "%", "999999999999999", ":", "n", "H"],
      read(bytes) {
        const text = textOf(bytes);
        const span = spanRequested(text, 1_000);
        if (typeof span !== "string" && (span.start < 0 || span.end > 1_000))
          throw new BrokenLaw(`the range is ${span.start} to ${span.end} of 1,000`);
        return [span, parseGrpcTimeout(text), decodeGrpcMessage(text), parseLogPosition(text)];
      },
    },
    {
      name: "signed tokens of other issuers",
      seeds: [
        `${base64url({ alg: "RS256", kid: "k" })}.${base64url({ iss: "https://a.example" })}.c2ln`,
        `${base64url({ alg: "none" })}.${base64url({})}.c2ln`,
      ],
      words: [".", base64url({ jku: "x" }), "eyJ", "__proto__"],
      read: (bytes) => parseIssuedToken(textOf(bytes)),
    },
    {
      name: "messages of a build to its granary",
      seeds: [
        '{"type":"hello","id":1,"versions":[1]}',
        '{"type":"look-up","id":"a","key":"rules/abc"}',
        '{"type":"build-started","directory":"/a","environment":"e","repositories":[{"root":"/a"}]}',
        '{"type":"hint","keys":["a/b"]}',
      ],
      words: ['"type":', '"__proto__":', "[", "{", '"id":', "null", "1e999", "\\ud800"],
      read: (bytes) => readGranaryMessage(textOf(bytes)),
    },
    {
      name: "outputs of a result",
      seeds: [
        `{"version":1,"outputs":[{"path":"a/b","digest":"${digest.hash}/12","executable":false}]}`,
        "{}",
      ],
      words: ["..", "/", "[", "{", '"path":'],
      read(bytes) {
        const outputs = readValue(bytes) ?? [];
        for (const { path } of outputs)
          if (path.startsWith("/") || path.split("/").includes(".."))
            throw new BrokenLaw(`the path ${path} leaves its directory`);
        return outputs;
      },
    },
    {
      name: "messages of dune",
      seeds: [
        "(4:lang11:dune-memory1:2)",
        "(7:promote(3:key4:abcd)(5:files(1:a4:abcd))(8:metadata)(4:repo1:0))",
        "(9:set-repos((3:dir2:/a)(6:remote1:r)(6:commit1:c)))",
      ],
      words: ["(", ")", "3:key", "0:", "99999:", "5:files"],
      read(bytes) {
        const whole = parseCsexp(bytes);
        const parser = new CsexpParser();
        const pieces = [...bytes].flatMap((byte) => parser.push(Uint8Array.of(byte)));
        if (pieces.length !== 1) throw new BrokenLaw("byte by byte it is another expression");
        return readDuneMessage(whole);
      },
    },
  ];
}

function decodeEvent(bytes: Uint8Array) {
  return fromBinary(BuildEventSchema, bytes);
}

function withoutRangeError<T>(work: () => T): T {
  try {
    return work();
  } catch (reason) {
    if (reason instanceof RangeError && /stack/.test(reason.message))
      throw new BrokenLaw("the stack ran out", { cause: reason });
    throw reason;
  }
}

function base64url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
