import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { outputTrees } from "#actions/output-trees.ts";
import { resultWith, storedResult } from "#actions/result.fixture.ts";
import { buildDirectoryTree } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import {
  ActionResultSchema,
  TreeSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { NeededOutput } from "./run.store.ts";
import { takeOutputs } from "./take-outputs.ts";

const store = memoryBlobStore();
const trees = outputTrees(store);
const { result, entries } = await storedResult(store);
const whole = buildDirectoryTree(entries).root.digest;

const made = (of = result): NeededOutput => ({
  job: "a",
  outcome: "succeeded",
  result: toBinary(ActionResultSchema, of),
});

test("an output directory that is used whole is one part", async () => {
  const taken = await takeOutputs(trees, "a", { outputs: ["dist"], at: "in" }, made());

  expect(taken).toMatchObject({ at: "in", from: 'job "a"' });
  expect(taken.entries).toEqual([{ kind: "subtree", path: "dist", digest: whole }]);
});

test("without a list, everything is used", async () => {
  const taken = await takeOutputs(trees, "a", {}, made());

  expect(taken.entries.map(({ kind, path }) => [path, kind])).toEqual([
    ["out/file", "file"],
    ["dist", "subtree"],
    ["latest", "symlink"],
  ]);
});

test("of a directory that is used in part, its entries are used", async () => {
  const taken = await takeOutputs(trees, "a", { outputs: ["dist/deep"] }, made());

  expect(taken.entries.map(({ path }) => path)).toEqual(["dist/deep/er/file", "dist/deep/link"]);
});

test("a path that becomes too long at its place is named when the tree is built", async () => {
  const at = Array.from({ length: 10 }, () => "d".repeat(203)).join("/");

  const { entries: taken } = await takeOutputs(trees, "a", { outputs: ["dist"], at }, made());

  expect(taken.map(({ kind }) => kind)).not.toContain("subtree");
});

test("unsupported properties of a directory are dropped", async () => {
  const digest = toDigestMessage(digestOf(Buffer.from("x")));
  const files = [{ name: "f", digest, nodeProperties: { unixMode: 0o600 } }];
  const bytes = toBinary(TreeSchema, create(TreeSchema, { root: { files } }));
  await store.put(digestOf(bytes), bytes);
  const treeDigest = toDigestMessage(digestOf(bytes));
  const strange = resultWith({ outputDirectories: [{ path: "dist", treeDigest }] });

  const taken = await takeOutputs(trees, "a", {}, made(strange));

  expect(taken.entries).toMatchObject([{ kind: "file", path: "dist/f" }]);
});

test("a path that may be in two output directories is looked up in both", async () => {
  const [directory] = result.outputDirectories;
  const nested = resultWith({
    outputDirectories: [...result.outputDirectories, { ...directory, path: "dist/deep" }],
  });

  const taken = await takeOutputs(trees, "a", { outputs: ["dist/deep"] }, made(nested));

  expect(taken.entries.map(({ path }) => path)).toEqual(["dist/deep/er/file", "dist/deep/link"]);
});

test.each(["success", undefined] as const)(
  "an output that is not there is refused with on: %s",
  async (on) => {
    const need = { outputs: ["other"], ...(on ? { on } : {}) };

    await expect(takeOutputs(trees, "a", need, made())).rejects.toThrow('did not make "other"');
    expect((await takeOutputs(trees, "a", { ...need, on: "end" }, made())).entries).toEqual([]);
  },
);

test("a missing Tree is a failed precondition", async () => {
  const empty = outputTrees(memoryBlobStore());

  await expect(takeOutputs(empty, "a", {}, made())).rejects.toMatchObject({
    code: "failed_precondition",
  });
});
