import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, emptyDigest } from "#core/digest.ts";
import {
  ActionCache,
  type ActionResultSchema,
  ActionSchema,
  ContentAddressableStorage,
  DirectorySchema,
  type ExecuteResponse,
  ExecuteResponseSchema,
  Execution,
  TreeSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { HostileCase } from "./hostile-cases.ts";
import { codeIn, codeOf, type Target } from "./hostile-target.ts";

const file = Buffer.from("an output");
const here = digestOf(file);
const gone = digestOf(Buffer.from("what nobody has"));
const an = toDigestMessage;

type Result = MessageInitShape<typeof ActionResultSchema>;
type Dir = MessageInitShape<typeof DirectorySchema>;

const update = async ({ channel }: Target, actionResult: Result) =>
  codeOf(() =>
    channel.unary(ActionCache.method.updateActionResult, {
      actionDigest: an(digestOf(Buffer.from(JSON.stringify(actionResult, noBigInts)))),
      actionResult,
    }),
  );
const noBigInts = (_: string, value: unknown) =>
  typeof value === "bigint" ? String(value) : value;

function result(name: string, wanted: HostileCase["wanted"], actionResult: Result): HostileCase {
  return {
    name: `a result with ${name}`,
    wanted,
    async prepare(target) {
      await target.blobs.put(here, file);
      return () => update(target, actionResult);
    },
  };
}

function treeOf(name: string, wanted: HostileCase["wanted"], bytes: () => Uint8Array): HostileCase {
  return {
    name: `a result with a tree ${name}`,
    wanted,
    async prepare(target) {
      const tree = bytes();
      await target.blobs.put(here, file);
      const digest = digestOf(tree);
      await target.blobs.put(digest, tree);
      return () => update(target, { outputDirectories: [{ path: "out", treeDigest: an(digest) }] });
    },
  };
}

const treeWith =
  (root: Dir, children: Dir[] = []) =>
  () =>
    toBinary(
      TreeSchema,
      create(TreeSchema, {
        root: create(DirectorySchema, root),
        children: children.map((each) => create(DirectorySchema, each)),
      }),
    );

/** Each level names the next one twice: 2^levels directories, in `levels` messages. */
function doubling(levels: number): { readonly directories: Dir[]; readonly root: Dir } {
  const directories: Dir[] = [];
  let now: Dir = { files: [{ name: "f", digest: an(here) }] };
  for (let level = 0; level < levels; level++) {
    directories.push(now);
    const digest = an(digestOf(toBinary(DirectorySchema, create(DirectorySchema, now))));
    now = {
      directories: [
        { name: "a", digest },
        { name: "b", digest },
      ],
    };
  }
  return { directories, root: now };
}

async function putDoubling(target: Target, levels: number, without = -1): Promise<Digest> {
  await target.blobs.put(here, file);
  const { directories, root } = doubling(levels);
  for (const [n, each] of directories.entries()) {
    if (n !== without) await target.put(DirectorySchema, each);
  }
  return target.put(DirectorySchema, root);
}

/** Executes, and returns the code of the status in the response, or that of the call. */
async function execute({ channel }: Target, action: Digest): Promise<string> {
  let response: ExecuteResponse | undefined;
  const code = await codeOf(async () => {
    for await (const { done, result } of channel.serverStream(Execution.method.execute, {
      actionDigest: an(action),
    })) {
      if (done && result.case === "response") {
        response = fromBinary(ExecuteResponseSchema, result.value.value);
      }
    }
  });
  return code === "ok" ? codeIn(response?.status) : code;
}

const executing = (
  name: string,
  wanted: HostileCase["wanted"],
  action: (target: Target) => Promise<Digest>,
): HostileCase => ({
  name: `an action ${name}`,
  wanted,
  async prepare(target) {
    const digest = await action(target);
    return () => execute(target, digest);
  },
});

const getTree = (
  name: string,
  wanted: HostileCase["wanted"],
  root: (target: Target) => Promise<Digest>,
  pageToken = "",
): HostileCase => ({
  name: `GetTree of ${name}`,
  wanted,
  async prepare(target) {
    const digest = await root(target);
    return () =>
      codeOf(async () => {
        let directories = 0;
        const request = { rootDigest: an(digest), pageToken };
        const { getTree: method } = ContentAddressableStorage.method;
        for await (const page of target.channel.serverStream(method, request)) {
          directories += page.directories.length;
        }
        if (directories > 100) throw new Error(`${directories} directories came`);
      });
  },
});

const blob = (bytes: Uint8Array) => async (target: Target) => {
  const digest = digestOf(bytes);
  await target.blobs.write(
    digest,
    (async function* () {
      for (let at = 0; at < bytes.byteLength; at += 1_048_576)
        yield bytes.subarray(at, at + 1_048_576);
    })(),
  );
  return digest;
};

const paths = [
  "../x",
  "/etc/passwd",
  "a/../../b",
  "",
  "a//b",
  "a\\b",
  "a\u0000b",
  "./a",
  "x".repeat(5_000),
];
const targets = ["../../etc/passwd", "/b\u0000c", "../x", "a/../../x", "", "a\u0000b"];
const large = Buffer.alloc(9 * 1_048_576, 7);
const illegal: [string, Dir][] = [
  ["..", { files: [{ name: "..", digest: an(here) }] }],
  ["a/b", { files: [{ name: "a/b", digest: an(here) }] }],
  ["nothing", { files: [{ name: "", digest: an(here) }] }],
  ["a NUL", { files: [{ name: "a\u0000", digest: an(here) }] }],
  ["no digest", { files: [{ name: "a" }] }],
  [
    "one name twice",
    { files: [{ name: "a", digest: an(here) }], symlinks: [{ name: "a", target: "b" }] },
  ],
  [
    "names out of order",
    {
      files: [
        { name: "b", digest: an(here) },
        { name: "a", digest: an(here) },
      ],
    },
  ],
  ["a link to nothing", { symlinks: [{ name: "a", target: "" }] }],
  ["a link out of it", { symlinks: [{ name: "a", target: "../../../x" }] }],
  ["an invalid hash", { files: [{ name: "a", digest: { hash: "../../x", sizeBytes: 5n } }] }],
  ["a size below 0", { files: [{ name: "a", digest: { hash: here.hash, sizeBytes: -1n } }] }],
];
const { directories: levels, root: top } = doubling(30);

/** Results, trees and actions that no honest client makes. */
export const hostileResults: readonly HostileCase[] = [
  ...paths.map((path) =>
    result(`the file ${JSON.stringify(path.slice(0, 20))}`, "invalid_argument", {
      outputFiles: [{ path, digest: an(here) }],
    }),
  ),
  ...targets.map((target) =>
    result(`a link to ${JSON.stringify(target)}`, "invalid_argument", {
      outputSymlinks: [{ path: "link", target }],
    }),
  ),
  result("the directory ../x", "invalid_argument", {
    outputDirectories: [{ path: "../x", treeDigest: an(here) }],
  }),
  result("one path twice", "invalid_argument", {
    outputFiles: [
      { path: "a", digest: an(here) },
      { path: "a", digest: an(here) },
    ],
  }),
  result("a file below a link", "invalid_argument", {
    outputFiles: [{ path: "a/b", digest: an(here) }],
    outputSymlinks: [{ path: "a", target: "c" }],
  }),
  result("a file that is not here", "failed_precondition", {
    outputFiles: [{ path: "a", digest: an(gone) }],
  }),
  result("a file of another size", "failed_precondition", {
    outputFiles: [{ path: "a", digest: { hash: here.hash, sizeBytes: 5n } }],
  }),
  result("a file without a digest", "invalid_argument", { outputFiles: [{ path: "a" }] }),
  result("contents that are another file's", "invalid_argument", {
    outputFiles: [{ path: "a", digest: an(gone), contents: file }],
  }),
  result("a tree that is not here", "failed_precondition", {
    outputDirectories: [{ path: "out", treeDigest: an(gone) }],
  }),
  result("a tree of 2^52 bytes", ["resource_exhausted", "failed_precondition"], {
    outputDirectories: [{ path: "out", treeDigest: { hash: gone.hash, sizeBytes: 2n ** 52n } }],
  }),
  ...illegal.map(([name, directory]) =>
    treeOf(`with ${name}`, "invalid_argument", treeWith(directory)),
  ),
  treeOf(
    "that lacks a directory",
    "invalid_argument",
    treeWith({ directories: [{ name: "a", digest: an(gone) }] }),
  ),
  treeOf("without a root", "invalid_argument", () => Buffer.of()),
  treeOf("with invalid bytes", "invalid_argument", () => Buffer.alloc(1_000, 0xff)),
  treeOf("of 2^30 directories in 31", "resource_exhausted", treeWith(top, levels)),
  treeOf("of 10,000,000 empty directories", "resource_exhausted", () =>
    Buffer.alloc(20_000_000, Buffer.from([0x12, 0])),
  ),
  treeOf("of 10,000,000 files of nothing", "resource_exhausted", () => {
    const root = Buffer.alloc(20_000_000, Buffer.from([0x0a, 0]));
    return Buffer.concat([Buffer.from([0x0a, 0x80, 0xda, 0xc4, 0x09]), root]);
  }),
  getTree("2^30 directories in 31", "ok", (target) => putDoubling(target, 30)),
  getTree("what is no directory", "invalid_argument", blob(Buffer.alloc(1_000, 0xff))),
  getTree("what fits into no message", "resource_exhausted", blob(large)),
  getTree("what is not here", "not_found", async () => gone),
  getTree(
    "2^30 directories from page ../x",
    "invalid_argument",
    (target) => putDoubling(target, 30),
    "../x",
  ),
  getTree(
    "2^30 directories from page 10^15",
    ["ok", "invalid_argument"],
    (target) => putDoubling(target, 30),
    "9".repeat(15),
  ),
  executing("with invalid bytes", "invalid_argument", blob(Buffer.alloc(1_000, 0xff))),
  executing("of 9 MiB", "invalid_argument", blob(large)),
  executing("whose command is of 9 MiB", "invalid_argument", async (target) => {
    const command = await blob(large)(target);
    return target.put(ActionSchema, {
      commandDigest: an(command),
      inputRootDigest: an(emptyDigest),
    });
  }),
  executing("that is not here", "failed_precondition", async () => gone),
  executing("without a command", "invalid_argument", (target) =>
    target.put(ActionSchema, { inputRootDigest: an(emptyDigest) }),
  ),
  executing(
    "on 2^30 directories of which the root's command is missing",
    "failed_precondition",
    async (target) =>
      target.put(ActionSchema, {
        commandDigest: an(gone),
        inputRootDigest: an(await putDoubling(target, 29, 3)),
      }),
  ),
];
