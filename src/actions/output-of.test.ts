import { expect, test } from "vitest";
import { buildDirectoryTree } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { encodeTree } from "#cas/tree-message.ts";
import { outputOf } from "./output-of.ts";
import { resultWith, storedResult } from "./result.fixture.ts";

const store = memoryBlobStore();
const { result, blobs } = await storedResult(store);

test("an output file is one entry, at its path or another", async () => {
  const file = { kind: "file", digest: blobs.file, executable: true };

  expect(await outputOf(store, result, "out/file")).toEqual([{ ...file, path: "out/file" }]);
  expect(await outputOf(store, result, "out/file", "in/x")).toEqual([{ ...file, path: "in/x" }]);
});

test("an output symlink is one entry", async () => {
  expect(await outputOf(store, result, "latest")).toEqual([
    { kind: "symlink", path: "latest", target: "dist/inner" },
  ]);
});

test("an output directory is all that is in it", async () => {
  const entries = await outputOf(store, result, "dist", "lib");

  expect(entries).toEqual([
    { kind: "file", path: "lib/deep/er/file", digest: blobs.deep, executable: false },
    { kind: "symlink", path: "lib/deep/link", target: "../inner" },
    { kind: "file", path: "lib/inner", digest: blobs.inner, executable: true },
  ]);
});

test("a part of an output directory can be taken", async () => {
  expect((await outputOf(store, result, "dist/deep", "d"))?.map(({ path }) => path)).toEqual([
    "d/er/file",
    "d/link",
  ]);
  expect(await outputOf(store, result, "dist/inner", "x")).toMatchObject([{ path: "x" }]);
});

test("an empty output directory is a directory", async () => {
  const tree = encodeTree(buildDirectoryTree([]));
  await store.put(digestOf(tree), tree);
  const treeDigest = toDigestMessage(digestOf(tree));
  const empty = resultWith({ outputDirectories: [{ path: "dist", treeDigest }] });

  expect(await outputOf(store, empty, "dist")).toEqual([{ kind: "directory", path: "dist" }]);
});

test.each(["dis", "dist/nothing", "out", "latest/x", "other"])("there is no %s", async (path) => {
  expect(await outputOf(store, result, path)).toBeUndefined();
});

test("a Tree that is gone is a failed precondition", async () => {
  await expect(outputOf(memoryBlobStore(), result, "dist")).rejects.toMatchObject({
    code: "failed_precondition",
  });
});

test.each(["/dist", "../x", ""])("%j is no path of an output", async (path) => {
  await expect(outputOf(store, result, path)).rejects.toMatchObject({ code: "invalid_argument" });
  await expect(outputOf(store, result, "dist", path)).rejects.toMatchObject({
    code: "invalid_argument",
  });
});
