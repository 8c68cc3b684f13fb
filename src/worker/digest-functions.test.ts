import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { digestFunctionValues, fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { flattenDirectoryTree } from "#cas/flatten-directory-tree.ts";
import { decodeTree, flattenTree } from "#cas/tree-message.ts";
import { digestFunctions, functionOf } from "#core/digest.ts";
import type { Service } from "#core/service.ts";
import {
  Command_OutputDirectoryFormat,
  DigestFunction_Value,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { readWorkerConfig } from "./config.ts";
import { FakeFarm } from "./fake-farm.fixture.ts";
import { startWorkerOn } from "./start-worker.ts";

const farm = new FakeFarm();
let dataDir: string;
let worker: Service;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "grange-digests-"));
  const told = { server: "http://127.0.0.1:1", name: "w1", slots: 1, dataDir };
  worker = await startWorkerOn(farm, readWorkerConfig(told), pino({ level: "silent" }));
});
afterAll(async () => {
  await worker?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe.each(digestFunctions)("an action whose digest is %s", (by) => {
  test("gets its inputs, and its outputs have digests of the same function", async () => {
    const big = `head -c ${5 * 1024 * 1024} /dev/zero`;
    const { outcome, message, result, digestFunction } = await farm.run({
      digestFunction: by,
      inputs: [
        { path: "a/b/text", text: by },
        { path: "a/tool", text: "#!/bin/sh\ncat a/b/text\n", executable: true },
        { path: "none", text: "" },
      ],
      script: `a/tool; cp a/b/text out; ${big} > big; mkdir -p tree/deep; cp none out tree/deep; echo 1 >&2`,
      command: {
        outputPaths: ["out", "tree", "big"],
        outputDirectoryFormat: Command_OutputDirectoryFormat.TREE_AND_DIRECTORY,
      },
    });

    expect(message).toBe("");
    expect(outcome).toBe(Outcome.SUCCEEDED);
    expect(digestFunction).toBe(digestFunctionValues[by]);
    const text = Buffer.from(by);
    const digest = digestOf(text, by);
    expect(result?.outputFiles).toMatchObject([
      { path: "out", digest: toDigestMessage(digest) },
      { path: "big", digest: toDigestMessage(digestOf(Buffer.alloc(5 * 1024 * 1024), by)) },
    ]);
    expect(result?.stdoutDigest).toEqual(toDigestMessage(digest));
    expect(result?.stderrDigest).toEqual(toDigestMessage(digestOf(Buffer.from("1\n"), by)));
    const [directory] = result?.outputDirectories ?? [];
    const treeDigest = fromDigestMessage(directory?.treeDigest, "the tree", by);
    const tree = await farm.store.get(treeDigest);
    const entries = [
      { kind: "file", path: "deep/none", digest: digestOf(Buffer.alloc(0), by), executable: false },
      { kind: "file", path: "deep/out", digest, executable: false },
    ];
    expect(await flattenTree(await decodeTree(tree ?? Buffer.alloc(0)), by)).toEqual(entries);
    const root = fromDigestMessage(directory?.rootDirectoryDigest, "the root", by);
    expect(await flattenDirectoryTree(farm.store, root)).toEqual(entries);
    expect(await farm.store.findMissing([digest, treeDigest])).toEqual([]);
  });

  test("reports missing inputs with the same function", async () => {
    const gone = digestOf(Buffer.from("gone"), by);
    const { missingInputs, digestFunction } = await farm.run({
      digestFunction: by,
      inputs: [{ kind: "file", path: "gone", digest: gone, executable: false }],
    });

    expect(missingInputs.map((it) => fromDigestMessage(it, "it", digestFunction))).toEqual([gone]);
    expect(functionOf(gone)).toBe(by);
  });
});

test("work of a server that knows only one function uses SHA-256", async () => {
  const work = await farm.workOf({ script: "echo hello" }, "old");
  work.digestFunction = DigestFunction_Value.UNKNOWN;
  farm.enqueue(work);

  const { result } = await farm.end("old");

  expect(result?.stdoutDigest).toEqual(toDigestMessage(digestOf(Buffer.from("hello\n"))));
});
