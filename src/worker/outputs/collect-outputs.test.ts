import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { decodeTree, flattenTree } from "#cas/tree-message.ts";
import {
  ActionResultSchema,
  type Command,
  Command_OutputDirectoryFormat,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { RetryWindow } from "../retry-window.ts";
import { type CollectOptions, collectOutputs } from "./collect-outputs.ts";
import { declaredOutputs } from "./declared-outputs.ts";
import { wantedProperties } from "./output-properties.ts";
import { publishOutputs } from "./upload-outputs.ts";

type Init = Partial<Pick<Command, "outputPaths" | "outputFiles" | "outputDirectories">>;

function emptyRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "grange-outputs-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

function collect(root: string, init: Init, options?: CollectOptions) {
  return collectOutputs(root, declaredOutputs(create(CommandSchema, init)), options);
}

async function resultOf(
  root: string,
  init: Init,
  options?: CollectOptions,
  format: Command_OutputDirectoryFormat = Command_OutputDirectoryFormat.TREE_ONLY,
) {
  const farm = memoryBlobStore();
  const result = create(ActionResultSchema);
  const collected = await collect(root, init, options);
  await publishOutputs(root, collected, format, { farm, retryWindow: new RetryWindow() }, result);
  return { result, farm, collected };
}

test("each output is named as in the command, once, and missing ones are left out", async () => {
  const root = emptyRoot();
  mkdirSync(join(root, "d/sub"), { recursive: true });
  writeFileSync(join(root, "d/f"), "f");

  const { result, collected } = await resultOf(root, {
    outputPaths: ["d/", "d/f", "d/f", "absent", ""],
  });

  expect(result.outputDirectories.map(({ path }) => path)).toEqual(["d/", ""]);
  expect(result.outputFiles.map(({ path }) => path)).toEqual(["d/f"]);
  expect(collected.missing).toEqual(["absent"]);
});

test.each([
  [
    "a directory for a file",
    { outputFiles: ["d"] },
    "is a directory, but it is declared as a file",
  ],
  [
    "a file for a directory",
    { outputDirectories: ["f"] },
    "is a file, but it is declared as a dir",
  ],
])("the older lists refuse %s", async (_, init, why) => {
  const root = emptyRoot();
  mkdirSync(join(root, "d"));
  writeFileSync(join(root, "f"), "");

  const { outputs, refused } = await collect(root, init);

  expect(outputs).toEqual([]);
  expect(refused).toEqual([expect.stringContaining(why)]);
});

test("a path in both older lists may be either kind", async () => {
  const root = emptyRoot();
  mkdirSync(join(root, "d"));
  writeFileSync(join(root, "f"), "");
  const both = ["d", "f"];

  const { result } = await resultOf(root, { outputFiles: both, outputDirectories: both });

  expect(result.outputFiles.map(({ path }) => path)).toEqual(["f"]);
  expect(result.outputDirectories.map(({ path }) => path)).toEqual(["d"]);
});

test("readers of the older lists find symlinks in their fields, others in one list", async () => {
  const root = emptyRoot();
  mkdirSync(join(root, "d"));
  symlinkSync("d", join(root, "to-directory"));
  symlinkSync("nowhere", join(root, "dangling"));
  const paths = ["to-directory", "dangling"];

  const { result: old } = await resultOf(root, { outputFiles: paths, outputDirectories: paths });
  const { result: now } = await resultOf(root, { outputPaths: paths });

  expect(old.outputDirectorySymlinks.map(({ path }) => path)).toEqual(["to-directory"]);
  expect(old.outputFileSymlinks.map(({ path }) => path)).toEqual(["dangling"]);
  expect(old.outputSymlinks).toHaveLength(2);
  expect(now.outputSymlinks.map(({ target }) => target)).toEqual(["d", "nowhere"]);
  expect(now.outputFileSymlinks).toEqual([]);
});

test("an illegal output is rejected, and the others are collected", async () => {
  const root = emptyRoot();
  writeFileSync(join(root, "test.log"), "log");
  const socket = createServer().listen(join(root, "socket"));
  await new Promise((resolve) => socket.once("listening", resolve));
  onTestFinished(() => void socket.close());

  const { outputs, refused } = await collect(root, { outputPaths: ["socket", "test.log", "../x"] });

  expect(outputs.map(({ path }) => path)).toEqual(["test.log"]);
  expect(refused).toEqual([expect.stringContaining("a socket"), expect.stringContaining('".."')]);
});

test("a sparse file counts with its length, and is not read", async () => {
  const root = emptyRoot();
  writeFileSync(join(root, "sparse"), "");
  truncateSync(join(root, "sparse"), 20 * 1024 ** 3);
  writeFileSync(join(root, "log"), "log");

  const { outputs, files, refused } = await collect(root, { outputPaths: ["sparse", "log"] });

  expect(refused).toEqual([
    expect.stringMatching(
      /^output "sparse" has at least 20 GiB, of which 0 B on the disk \(sparse\); the limit for one output is 8 GiB: /,
    ),
  ]);
  expect(outputs.map(({ path }) => path)).toEqual(["log"]);
  expect(files.map(({ at }) => at)).toEqual(["log"]);
});

test("a directory that is too large leaves no files, and does not count against the others", async () => {
  const root = emptyRoot();
  mkdirSync(join(root, "large"));
  for (const name of ["a", "b", "c"]) writeFileSync(join(root, "large", name), "x".repeat(8_000));
  writeFileSync(join(root, "other"), "x".repeat(8_000));
  const limits = { maxEntries: 100, maxBytesOfEach: 20_000, maxBytesOfAll: 20_000 };

  const { outputs, files, refused } = await collect(
    root,
    { outputPaths: ["large", "other"] },
    { limits },
  );

  expect(refused).toEqual([expect.stringContaining('output "large" has at least')]);
  expect(outputs.map(({ path }) => path)).toEqual(["other"]);
  expect(files.map(({ at }) => at)).toEqual(["other"]);
});

test("all outputs together have a limit, too", async () => {
  const root = emptyRoot();
  for (const name of ["a", "b", "c"]) writeFileSync(join(root, name), "x".repeat(8_000));
  const limits = { maxEntries: 100, maxBytesOfEach: 20_000, maxBytesOfAll: 20_000 };

  const { outputs, refused } = await collect(root, { outputPaths: ["a", "b", "c"] }, { limits });

  expect(outputs.map(({ path }) => path)).toEqual(["a", "b"]);
  expect(refused).toEqual([expect.stringContaining("the limit for all outputs is 19.5 KiB")]);
});

test("an abort ends the collection", async () => {
  const root = emptyRoot();
  writeFileSync(join(root, "f"), "f");
  const signal = AbortSignal.abort("cancelled");

  await expect(collect(root, { outputPaths: ["f"] }, { signal })).rejects.toBe("cancelled");
});

test("names keep their exact bytes", async () => {
  const root = emptyRoot();
  const names = ["e\u0301", "é", "two\nlines", " ", "\u{1F600}", "～", "\uFFFD"];
  mkdirSync(join(root, "d"));
  for (const name of names) writeFileSync(join(root, "d", name), "");

  const { outputs } = await collect(root, { outputPaths: ["d"] });

  const [directory] = outputs;
  const found = directory?.kind === "directory" ? directory.tree.root.message.files : [];
  expect(found.map(({ name }) => name)).toEqual(
    names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );
});

test.each<[string, (at: Buffer) => void]>([
  ["a name", (at: Buffer) => writeFileSync(at, "")],
  [
    "a target",
    (at: Buffer) =>
      symlinkSync(at.subarray(-1), Buffer.concat([at.subarray(0, -1), Buffer.from("l")])),
  ],
])("%s that is no UTF-8 is refused in words", async (_, make) => {
  const root = emptyRoot();
  mkdirSync(join(root, "d"));
  make(Buffer.concat([Buffer.from(`${root}/d/`), Buffer.from([0xff])]));

  const { refused } = await collect(root, { outputPaths: ["d"] });

  expect(refused).toEqual([expect.stringContaining("not valid UTF-8")]);
});

test("a Tree is, byte for byte, what every other client makes of the directory", async () => {
  const root = emptyRoot();
  mkdirSync(join(root, "t/a"), { recursive: true });
  mkdirSync(join(root, "t/b"));
  mkdirSync(join(root, "t/empty"));
  writeFileSync(join(root, "t/a/x"), "x");
  writeFileSync(join(root, "t/b/x"), "x");
  writeFileSync(join(root, "t/run"), "run");
  chmodSync(join(root, "t/run"), 0o755);
  symlinkSync("run", join(root, "t/link"));

  const { result, farm } = await resultOf(root, { outputPaths: ["t"] });

  // Written by hand in the wire format: field and kind, length, content; defaults are left out.
  const field = (number: number, content: Buffer) =>
    Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
  const digest = (bytes: Buffer) => {
    const { hash, sizeBytes } = digestOf(bytes);
    const size = sizeBytes === 0 ? [] : [Buffer.from([0x10, sizeBytes])];
    return Buffer.concat([field(1, Buffer.from(hash)), ...size]);
  };
  const node = (name: string, bytes: Buffer, more: number[] = []) =>
    Buffer.concat([field(1, Buffer.from(name)), field(2, digest(bytes)), Buffer.from(more)]);
  const withX = field(1, node("x", Buffer.from("x")));
  const empty = Buffer.alloc(0);
  const top = Buffer.concat([
    field(1, node("run", Buffer.from("run"), [0x20, 1])),
    field(2, node("a", withX)),
    field(2, node("b", withX)),
    field(2, node("empty", empty)),
    field(3, Buffer.concat([field(1, Buffer.from("link")), field(2, Buffer.from("run"))])),
  ]);
  const children = [withX, empty];
  const [directory] = result.outputDirectories;
  const tree = await farm.get(digestOfMessage(directory?.treeDigest));
  const long = (number: number, content: Buffer) =>
    content.length < 128
      ? field(number, content)
      : Buffer.concat([
          Buffer.from([(number << 3) | 2, (content.length & 0x7f) | 0x80, content.length >> 7]),
          content,
        ]);
  const inEitherOrder = [children, children.toReversed()].map((some) =>
    Buffer.concat([long(1, top), ...some.map((child) => long(2, child))]).toString("hex"),
  );
  expect(inEitherOrder).toContain(Buffer.from(tree ?? []).toString("hex"));
  expect(directory?.isTopologicallySorted).toBe(true);
});

test("directories are also stored one by one when a command requests it", async () => {
  const root = emptyRoot();
  mkdirSync(join(root, "t/a"), { recursive: true });
  writeFileSync(join(root, "t/a/x"), "x");
  const { DIRECTORY_ONLY } = Command_OutputDirectoryFormat;

  const { result, farm } = await resultOf(root, { outputPaths: ["t"] }, {}, DIRECTORY_ONLY);

  const [directory] = result.outputDirectories;
  const top = await farm.get(digestOfMessage(directory?.rootDirectoryDigest));
  expect(Buffer.from(top ?? []).toString("latin1")).toContain("a");
});

test("times and modes are included only when a command requests them", async () => {
  const root = emptyRoot();
  mkdirSync(join(root, "d"));
  for (const path of ["f", "d/g"]) {
    writeFileSync(join(root, path), "");
    chmodSync(join(root, path), 0o640);
    utimesSync(join(root, path), 1_700_000_000.25, 1_700_000_000.25);
  }
  const properties = wantedProperties(["unix_mode", "mtime", "color"]);
  const outputPaths = ["f", "d"];

  const { result, collected } = await resultOf(root, { outputPaths }, { properties });
  const { result: plain } = await resultOf(root, { outputPaths });

  const told = { unixMode: 0o640, mtime: { seconds: 1_700_000_000n, nanos: 250_000_000 } };
  expect(result.outputFiles[0]?.nodeProperties).toMatchObject(told);
  const [, directory] = collected.outputs;
  expect(directory?.kind === "directory" && directory.tree.root.message.files[0]).toMatchObject({
    nodeProperties: told,
  });
  expect(plain.outputFiles[0]?.nodeProperties).toBeUndefined();
});

function digestOfMessage(message: { hash: string; sizeBytes: bigint } | undefined) {
  return { hash: message?.hash, sizeBytes: Number(message?.sizeBytes) } as ReturnType<
    typeof digestOf
  >;
}

test("a link in an output directory may point out of it, but not out of the root", async () => {
  const root = emptyRoot();
  mkdirSync(join(root, "w/od"), { recursive: true });
  symlinkSync("../x", join(root, "w/od/up"));
  symlinkSync("../../y", join(root, "w/od/top"));
  mkdirSync(join(root, "bad"));
  symlinkSync("../../z", join(root, "bad/out"));

  const { result, farm } = await resultOf(root, { outputPaths: ["w/od"] });
  const [directory] = result.outputDirectories;
  const bytes = await farm.get(fromDigestMessage(directory?.treeDigest, "the tree", "sha256"));
  const tree = await decodeTree(bytes ?? Buffer.alloc(0));

  expect(await flattenTree(tree, "sha256", { below: "w/od" })).toMatchObject([
    { kind: "symlink", path: "top", target: "../../y" },
    { kind: "symlink", path: "up", target: "../x" },
  ]);
  await expect(flattenTree(tree, "sha256", { below: "od" })).rejects.toThrow("leads out");
  const { refused } = await collect(root, { outputPaths: ["bad"] });
  expect(refused.join()).toContain('"bad/out" is a symlink that leads out of the root');
});
