import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { digestFunctionValues, fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { decodeTree, flattenTree } from "#cas/tree-message.ts";
import { type Digest, type DigestFunction, digestFunctions, hexOf } from "#core/digest.ts";
import type { Service } from "#core/service.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  ActionCache,
  ActionSchema,
  Capabilities,
  CommandSchema,
  ContentAddressableStorage,
  ExecuteOperationMetadataSchema,
  type ExecuteResponse,
  ExecuteResponseSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { PreconditionFailureSchema } from "#proto/google/rpc/error_details_pb.ts";
import { readServerConfig } from "../../src/server/config.ts";
import { type RunningServer, startServer } from "../../src/server/start-server.ts";
import { readWorkerConfig } from "../../src/worker/config.ts";
import { startWorker } from "../../src/worker/start-worker.ts";
import { freshDatabase } from "../support/fresh-db.ts";

const databaseUrl = await freshDatabase();
const logger = pino({ level: "silent" });
let dataDir: string;
let server: RunningServer;
let worker: Service;
let channel: GrpcChannel;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-digests-"));
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, logger);
  const told = { server: server.url, name: "w1", slots: 1, dataDir: join(dataDir, "worker") };
  worker = await startWorker(readWorkerConfig(told), logger);
  channel = new GrpcChannel({ url: server.url });
});
afterAll(async () => {
  await channel?.stop();
  await worker?.stop();
  await server?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

interface Prepared {
  readonly action: Digest;
  readonly input: Digest;
}

/** Uploads what a client uploads for an action that copies its input, except this input. */
async function prepare(by: DigestFunction, text: string): Promise<Prepared> {
  const blobs = remoteBlobStore(channel, "");
  const input = digestOf(Buffer.from(text), by);
  const root = await uploadDirectories(
    blobs,
    buildDirectoryTree([{ kind: "file", path: "in/x", digest: input, executable: false }], by),
  );
  const command = toBinary(
    CommandSchema,
    create(CommandSchema, {
      arguments: ["/bin/sh", "-c", "cat in/x; mkdir out; cp in/x out/y; cp in/x z"],
      outputPaths: ["out", "z"],
    }),
  );
  const commandDigest = digestOf(command, by);
  await blobs.put(commandDigest, command);
  const action = toBinary(
    ActionSchema,
    create(ActionSchema, {
      commandDigest: toDigestMessage(commandDigest),
      inputRootDigest: toDigestMessage(root),
      timeout: { seconds: 60n },
    }),
  );
  await blobs.put(digestOf(action, by), action);
  return { action: digestOf(action, by), input };
}

async function execute(by: DigestFunction, action: Digest): Promise<ExecuteResponse> {
  for await (const operation of channel.serverStream(Execution.method.execute, {
    actionDigest: toDigestMessage(action),
    digestFunction: digestFunctionValues[by],
  })) {
    const metadata =
      operation.metadata && anyUnpack(operation.metadata, ExecuteOperationMetadataSchema);
    expect(metadata?.digestFunction).toBe(digestFunctionValues[by]);
    if (operation.result.case !== "response") continue;
    return fromBinary(ExecuteResponseSchema, operation.result.value.value);
  }
  throw new Error("the stream ended before its operation");
}

describe.each(digestFunctions)("a client that names blobs by %s", (by) => {
  test("receives the list of missing blobs, uploads them, has its action executed, and hits the cache", async () => {
    const text = `input by ${by}`;
    const blobs = remoteBlobStore(channel, "");
    const { action, input } = await prepare(by, text);

    const lacking = await execute(by, action);

    expect(lacking.status?.code).toBe(Code.FAILED_PRECONDITION);
    const failure =
      lacking.status?.details[0] && anyUnpack(lacking.status.details[0], PreconditionFailureSchema);
    const named = `${by === "blake3" ? "blake3/" : ""}${hexOf(input)}/${input.sizeBytes}`;
    expect(failure?.violations).toMatchObject([{ type: "MISSING", subject: `blobs/${named}` }]);

    await blobs.put(input, Buffer.from(text));
    const first = await execute(by, action);

    expect(first.status?.message ?? "").toBe("");
    expect(first).toMatchObject({ cachedResult: false, result: { exitCode: 0 } });
    expect(first.result?.outputFiles).toMatchObject([
      { path: "z", digest: toDigestMessage(input) },
    ]);
    expect(first.result?.stdoutDigest).toEqual(toDigestMessage(input));
    const treeDigest = fromDigestMessage(first.result?.outputDirectories[0]?.treeDigest, "it", by);
    const tree = await decodeTree((await blobs.get(treeDigest)) ?? Buffer.alloc(0));
    expect(await flattenTree(tree, by)).toEqual([
      { kind: "file", path: "y", digest: input, executable: false },
    ]);

    expect(await execute(by, action)).toMatchObject({ cachedResult: true });
    const request = {
      actionDigest: toDigestMessage(action),
      digestFunction: digestFunctionValues[by],
    };
    expect(await channel.unary(ActionCache.method.getActionResult, request)).toMatchObject({
      exitCode: 0,
      stdoutDigest: toDigestMessage(input),
    });
  });

  test("reads its input root in pages, and large blobs by name", async () => {
    const blobs = remoteBlobStore(channel, "an/instance");
    const large = Buffer.alloc(5_000_000, by);
    const digest = digestOf(large, by);
    await blobs.put(digest, large);
    const root = await uploadDirectories(
      blobs,
      buildDirectoryTree([{ kind: "file", path: "a/b/c", digest, executable: true }], by),
    );

    const pages = channel.serverStream(ContentAddressableStorage.method.getTree, {
      instanceName: "an/instance",
      rootDigest: toDigestMessage(root),
      digestFunction: digestFunctionValues[by],
    });
    const directories = [];
    for await (const page of pages) directories.push(...page.directories);

    expect(directories).toHaveLength(3);
    expect(Buffer.from((await blobs.get(digest)) ?? []).equals(large)).toBe(true);
  });
});

test("does not get results of another function", async () => {
  const { action } = await prepare("blake3", "one function's");
  const request = { actionDigest: toDigestMessage(action) };

  await expect(channel.unary(ActionCache.method.getActionResult, request)).rejects.toMatchObject({
    code: "not_found",
  });
});

test("clients get the list of all functions, and older clients get SHA-256", async () => {
  const { cacheCapabilities, executionCapabilities } = await channel.unary(
    Capabilities.method.getCapabilities,
    {},
  );

  const all = new Set(Object.values(digestFunctionValues));
  expect(new Set(cacheCapabilities?.digestFunctions)).toEqual(all);
  expect(new Set(executionCapabilities?.digestFunctions)).toEqual(all);
  expect(executionCapabilities?.digestFunction).toBe(digestFunctionValues.sha256);
});
