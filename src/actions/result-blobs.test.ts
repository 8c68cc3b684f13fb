import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { TreeSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { outputTrees } from "./output-trees.ts";
import { resultWith, storedResult } from "./result.fixture.ts";
import { blobsOfResult, missingBlobsOf } from "./result-blobs.ts";

const keys = (digests: readonly Digest[]) => digests.map(digestKey).toSorted();

describe("the blobs of a result", () => {
  test("are all that it refers to, in Trees too", async () => {
    const store = memoryBlobStore();
    const { result, blobs } = await storedResult(store);

    expect(keys(await blobsOfResult(outputTrees(store), result, "sha256"))).toEqual(
      keys(Object.values(blobs)),
    );
    expect(await missingBlobsOf(outputTrees(store), result, "sha256")).toEqual([]);
  });

  test("are missing without the Tree, and only the Tree is known of", async () => {
    const { result, blobs } = await storedResult(memoryBlobStore());

    const missing = await missingBlobsOf(outputTrees(memoryBlobStore()), result, "sha256");

    expect(keys(missing)).toEqual(keys([blobs.file, blobs.tree, blobs.stdout]));
  });

  test("include the directories when the result names their root", async () => {
    const store = memoryBlobStore();
    const { result } = await storedResult(store);
    const root = digestOf(Buffer.from("a root that is not stored"));
    for (const directory of result.outputDirectories) {
      directory.rootDirectoryDigest = toDigestMessage(root);
    }

    const missing = await missingBlobsOf(outputTrees(store), result, "sha256");

    expect(missing).toContainEqual(root);
    expect(missing).toHaveLength(4);
  });

  test.each([
    ["a file without digest", { outputFiles: [{ path: "a" }] }, "no digest"],
    ["a directory without Tree", { outputDirectories: [{ path: "a" }] }, "no digest"],
    ["a digest that is none", { stdoutDigest: { hash: "xyz", sizeBytes: 1n } }, "no valid digest"],
    [
      "a Tree of a gigabyte",
      {
        outputDirectories: [
          { path: "a", treeDigest: { hash: "a".repeat(64), sizeBytes: 1n << 30n } },
        ],
      },
      "larger than",
    ],
  ])("cannot be told of %s", async (_, init, problem) => {
    await expect(
      blobsOfResult(outputTrees(memoryBlobStore()), resultWith(init), "sha256"),
    ).rejects.toThrow(problem);
  });

  test("of a Tree whose link leaves it and stays within the root are told", async () => {
    const store = memoryBlobStore();
    const tree = { root: { symlinks: [{ name: "up", target: "../x" }] }, children: [] };
    const bytes = toBinary(TreeSchema, create(TreeSchema, tree));
    await store.put(digestOf(bytes), bytes);
    const treeDigest = toDigestMessage(digestOf(bytes));

    const below = resultWith({ outputDirectories: [{ path: "a", treeDigest }] });
    const top = resultWith({ outputDirectories: [{ path: "", treeDigest }] });

    await expect(blobsOfResult(outputTrees(store), below, "sha256")).resolves.toHaveLength(1);
    await expect(blobsOfResult(outputTrees(store), top, "sha256")).rejects.toThrow("leads out");
  });

  test.each([
    [
      "that climbs",
      { root: { symlinks: [{ name: "a", target: "../../x" }] }, children: [] },
      "leads out",
    ],
    [
      "with a link to nothing",
      { root: { symlinks: [{ name: "a", target: "" }] }, children: [] },
      "empty target",
    ],
    ["without root", { children: [] }, "no root"],
    [
      "that lacks a directory",
      {
        root: { directories: [{ name: "a", digest: { hash: "a".repeat(64), sizeBytes: 1n } }] },
        children: [],
      },
      "lacks",
    ],
  ])("cannot be told of a Tree %s", async (_, tree, problem) => {
    const store = memoryBlobStore();
    const bytes = toBinary(TreeSchema, create(TreeSchema, tree));
    await store.put(digestOf(bytes), bytes);
    const treeDigest = toDigestMessage(digestOf(bytes));

    const result = resultWith({ outputDirectories: [{ path: "a", treeDigest }] });
    await expect(blobsOfResult(outputTrees(store), result, "sha256")).rejects.toThrow(problem);
  });
});
