import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { writeRequest } from "#grpc/byte-stream-wire.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import {
  ActionCache,
  ActionSchema,
  CommandSchema,
  ContentAddressableStorage,
  type Digest as DigestMessage,
  DirectorySchema,
  ExecuteResponseSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { findProgram } from "../../../test/support/needs/program.ts";
import { quantile } from "../quantile.ts";
import type { Figure } from "./by-turns.ts";

/** How many actions, and how many of them at once. */
export interface ExecutionLoad {
  readonly oneByOne: number;
  readonly eightAtOnce: number;
  readonly small: number;
}

/** As Bazel with `--jobs=16`. */
const smallAtOnce = 16;

/** Measures one server with actions that do nothing, and with small actions as Bazel sends them. */
export async function measureExecution(url: string, load: ExecutionLoad): Promise<Figure[]> {
  const channel = new GrpcChannel({ url });
  try {
    const one = await noOps(channel, load.oneByOne, 1);
    const eight = await noOps(channel, load.eightAtOnce, 8);
    const small = await smallActions(channel, load.small);
    const figure = (what: string, unit: string, value: number): Figure => ({
      what,
      unit,
      better: "lower",
      value,
    });
    const answered = one.executed.map(({ answeredMs }) => answeredMs);
    const overheads = one.executed.map(({ answeredMs, processMs }) => answeredMs - processMs);
    const at = `${load.oneByOne} no-op actions, one at a time`;
    return [
      figure(`${at}: Execute to answer, p50`, "ms", quantile(answered, 0.5)),
      figure(`${at}: the same less the process, p50`, "ms", quantile(overheads, 0.5)),
      figure(`${load.eightAtOnce} no-op actions, 8 at once`, "s", eight.seconds),
      figure(`${load.small} small actions, ${smallAtOnce} at once`, "s", small),
    ];
  } finally {
    await channel.stop();
  }
}

/** Waits until an action can be executed: a worker may need a moment to register. */
export async function untilExecuting(url: string): Promise<void> {
  const channel = new GrpcChannel({ url });
  const deadline = Date.now() + 60_000;
  try {
    for (;;) {
      try {
        await noOps(channel, 1, 1);
        return;
      } catch (reason) {
        const isEarly = reason instanceof Fault && Date.now() < deadline;
        if (!isEarly) throw reason;
        await sleep(50);
      }
    }
  } finally {
    await channel.stop();
  }
}

interface Executed {
  readonly answeredMs: number;
  readonly processMs: number;
}

async function noOps(
  channel: GrpcChannel,
  count: number,
  atOnce: number,
): Promise<{ readonly executed: readonly Executed[]; readonly seconds: number }> {
  const [root, ...below] = await inputRoot(channel);
  const command = messageBlob(
    toBinary(CommandSchema, create(CommandSchema, { arguments: ["/bin/true"] })),
  );
  const actions = Array.from({ length: count }, () => actionBlob(command.digest, root.digest));
  await upload(channel, [root, ...below, command, ...actions]);
  const executed: Executed[] = [];
  const seconds = await inLanes(actions, atOnce, async ({ digest }) => {
    executed.push(await execute(channel, digest));
  });
  return { executed, seconds };
}

/**
 * Small actions with one input and one output, by the calls of a build with Bazel: GetActionResult, FindMissingBlobs,
 * a ByteStream.Write for each missing blob, Execute, and a ByteStream.Read of the output.
 */
async function smallActions(channel: GrpcChannel, count: number): Promise<number> {
  const input = messageBlob(Buffer.from(`round ${randomUUID()}\n`));
  const node = { name: "round.txt", digest: toDigestMessage(input.digest) };
  const [root, bin] = await inputRoot(channel, [node]);
  return inLanes(
    Array.from({ length: count }, (_, n) => n),
    smallAtOnce,
    async (n) => {
      const command = messageBlob(
        toBinary(
          CommandSchema,
          create(CommandSchema, {
            arguments: ["/bin/sh", "-c", `(echo ${n}; cat round.txt) > small${n}.txt`],
            environmentVariables: [{ name: "PATH", value: "/bin:/usr/bin" }],
            outputPaths: [`small${n}.txt`],
          }),
        ),
      );
      const action = actionBlob(command.digest, root.digest, false);
      await expectMiss(channel, action.digest);
      const blobs = [input, root, bin, command, action];
      const { missingBlobDigests } = await channel.unary(
        ContentAddressableStorage.method.findMissingBlobs,
        { blobDigests: blobs.map(({ digest }) => toDigestMessage(digest)) },
      );
      const missing = new Set(missingBlobDigests.map(({ hash }) => hash));
      for (const { digest, bytes } of blobs)
        if (missing.has(digest.hash)) await write(channel, digest, bytes);
      const { output } = await execute(channel, action.digest);
      if (output === undefined) throw new Error(`action ${n} has no output`);
      const resourceName = `blobs/${output.hash}/${output.sizeBytes}`;
      for await (const _ of channel.serverStream(ByteStream.method.read, { resourceName }));
    },
  );
}

/**
 * Returns an input root and the directory in it, whose file is uploaded.
 *
 * It has a static shell: in the sandbox of buildbox, an action sees only its input root. The others use that of the
 * machine, and only link this one.
 */
async function inputRoot(
  channel: GrpcChannel,
  files: readonly { name: string; digest: DigestMessage }[] = [],
): Promise<readonly [Blob, Blob]> {
  const busybox = findProgram("busybox");
  if (busybox === undefined) throw new Error("busybox is not installed (Debian: busybox-static)");
  const shell = messageBlob(await readFile(busybox));
  await write(channel, shell.digest, shell.bytes);
  const program = { digest: toDigestMessage(shell.digest), isExecutable: true };
  const bin = messageBlob(
    toBinary(
      DirectorySchema,
      create(DirectorySchema, {
        files: ["cat", "sh", "true"].map((name) => ({ ...program, name })),
      }),
    ),
  );
  const directories = [{ name: "bin", digest: toDigestMessage(bin.digest) }];
  const root = toBinary(
    DirectorySchema,
    create(DirectorySchema, { files: [...files], directories }),
  );
  return [messageBlob(root), bin];
}

async function expectMiss(channel: GrpcChannel, digest: Digest): Promise<void> {
  try {
    await channel.unary(ActionCache.method.getActionResult, {
      actionDigest: toDigestMessage(digest),
    });
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "not_found") return;
    throw reason;
  }
  throw new Error(`${digestKey(digest)} is in the action cache before it was executed`);
}

async function execute(channel: GrpcChannel, digest: Digest) {
  // Workers use the machine's clock, which is the same one.
  const asked = performance.now();
  const request = { actionDigest: toDigestMessage(digest), skipCacheLookup: true };
  for await (const operation of channel.serverStream(Execution.method.execute, request)) {
    if (!operation.done) continue;
    if (operation.result.case !== "response")
      throw new Fault("unavailable", `an action failed: ${JSON.stringify(operation.result.value)}`);
    const response = fromBinary(ExecuteResponseSchema, operation.result.value.value);
    const { result, status } = response;
    if (result?.exitCode !== 0 || result.executionMetadata === undefined)
      throw new Fault(
        "unavailable",
        `an action ended with ${result?.exitCode}: ${status?.message} ${Buffer.from(result?.stderrRaw ?? []).toString()}`,
      );
    const { executionStartTimestamp, executionCompletedTimestamp } = result.executionMetadata;
    return {
      answeredMs: performance.now() - asked,
      processMs: msOf(executionCompletedTimestamp) - msOf(executionStartTimestamp),
      output: result.outputFiles[0]?.digest,
    };
  }
  throw new Error("the stream ended before its operation");
}

interface Blob {
  readonly digest: Digest;
  readonly bytes: Uint8Array;
}

function messageBlob(bytes: Uint8Array): Blob {
  return { digest: digestOf(bytes), bytes };
}

/** An action that nobody executed before, so that it is neither joined nor cached. */
function actionBlob(command: Digest, root: Digest, doNotCache = true): Blob {
  return messageBlob(
    toBinary(
      ActionSchema,
      create(ActionSchema, {
        commandDigest: toDigestMessage(command),
        inputRootDigest: toDigestMessage(root),
        salt: Buffer.from(randomUUID()),
        doNotCache,
      }),
    ),
  );
}

async function upload(channel: GrpcChannel, blobs: readonly Blob[]): Promise<void> {
  const { responses } = await channel.unary(ContentAddressableStorage.method.batchUpdateBlobs, {
    requests: blobs.map(({ digest, bytes }) => ({ digest: toDigestMessage(digest), data: bytes })),
  });
  const failed = responses.find(({ status }) => (status?.code ?? 0) !== 0);
  if (failed !== undefined) throw new Error(`an upload failed: ${failed.status?.message}`);
}

async function write(channel: GrpcChannel, digest: Digest, data: Uint8Array): Promise<void> {
  const resourceName = `uploads/${randomUUID()}/blobs/${digestKey(digest)}`;
  async function* messages() {
    yield writeRequest({ resourceName, writeOffset: 0, finishWrite: true, data });
  }
  await channel.rawClientStream(ByteStream.method.write, messages());
}

/** Returns the seconds that the work on all items took. */
async function inLanes<T>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<number> {
  const waiting = items.values();
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
  return (performance.now() - startedAt) / 1_000;
}

function msOf(at: Timestamp | undefined): number {
  return at === undefined ? Number.NaN : timestampMs(at) + (at.nanos % 1e6) / 1e6;
}
