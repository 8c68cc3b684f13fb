/**
 * The cost of an action that does nothing: `/bin/true` with an empty input root, as a client of REv2 sees it, on a real
 * farm with two workers.
 *
 * `npx tsx bench/no-op-actions.ts [actions] [callers]` takes half a minute with 1,000 and 1.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { anyUnpack, type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { emptyDigest } from "#core/digest.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  ActionSchema,
  CommandSchema,
  type ExecutedActionMetadata,
  ExecuteResponseSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { startProgram } from "../test/support/process.ts";
import { percentilesOf } from "./bench-database.ts";

const [total = 1_000, callers = 1] = process.argv.slice(2).map(Number);
const warmUps = 40;

const stages: readonly [string, (times: ExecutedActionMetadata) => number][] = [
  ["queued → claimed by a worker", (t) => between(t.queuedTimestamp, t.workerStartTimestamp)],
  ["→ inputs begun", (t) => between(t.workerStartTimestamp, t.inputFetchStartTimestamp)],
  ["→ inputs there", (t) => between(t.inputFetchStartTimestamp, t.inputFetchCompletedTimestamp)],
  ["→ process begun", (t) => between(t.inputFetchCompletedTimestamp, t.executionStartTimestamp)],
  ["→ process ended", (t) => between(t.executionStartTimestamp, t.executionCompletedTimestamp)],
  ["→ outputs begun", (t) => between(t.executionCompletedTimestamp, t.outputUploadStartTimestamp)],
  [
    "→ outputs there",
    (t) => between(t.outputUploadStartTimestamp, t.outputUploadCompletedTimestamp),
  ],
];

const grange = join(import.meta.dirname, "..", "bin", "grange.mjs");
const dataDir = await mkdtemp(join(tmpdir(), "grange-bench-no-ops-"));
const server = startProgram(process.execPath, [grange, "server", "--data", dataDir, "--port", "0"]);
const ready = await server.line((line) => line.startsWith('{"ready":true'));
const { url } = JSON.parse(ready) as { url: string };
const workers = ["no-op-1", "no-op-2"].map((name) => {
  const data = join(dataDir, "workers");
  const options = ["--server", url, "--name", name, "--data", data, "--slots", "2"];
  return startProgram(process.execPath, [grange, "worker", ...options]);
});
const channel = new GrpcChannel({ url });
try {
  const blobs = remoteBlobStore(channel, "");
  const command = toBinary(CommandSchema, create(CommandSchema, { arguments: ["/bin/true"] }));
  await blobs.put(digestOf(command), command);
  await drive(warmUps, callers);
  const began = performance.now();
  const runs = await drive(total, callers);
  const seconds = (performance.now() - began) / 1_000;
  say(
    "as the client sees it",
    runs.map(({ tookMs }) => tookMs),
  );
  for (const [stage, of] of stages) {
    say(
      `  ${stage}`,
      runs.map(({ metadata }) => of(metadata)),
    );
  }
  process.stdout.write(`${(total / seconds).toFixed(0)} actions/s with ${callers} at a time\n`);

  async function drive(count: number, atOnce: number): Promise<Run[]> {
    const done: Run[] = [];
    let left = count;
    const caller = async () => {
      while (left-- > 0) done.push(await execute());
    };
    await Promise.all(Array.from({ length: atOnce }, caller));
    return done;
  }

  async function execute(): Promise<Run> {
    const action = create(ActionSchema, {
      commandDigest: toDigestMessage(digestOf(command)),
      inputRootDigest: toDigestMessage(emptyDigest),
      salt: Buffer.from(randomUUID()),
    });
    const bytes = toBinary(ActionSchema, action);
    await blobs.put(digestOf(bytes), bytes);
    const began = performance.now();
    const request = { actionDigest: toDigestMessage(digestOf(bytes)), skipCacheLookup: true };
    for await (const operation of channel.serverStream(Execution.method.execute, request)) {
      if (!operation.done || operation.result.case !== "response") continue;
      const response = anyUnpack(operation.result.value, ExecuteResponseSchema);
      const metadata = response?.result?.executionMetadata;
      if (metadata === undefined || response?.result?.exitCode !== 0) {
        throw new Error(`an action failed: ${JSON.stringify(response?.status?.message)}`);
      }
      return { tookMs: performance.now() - began, metadata };
    }
    throw new Error("the stream ended before its operation");
  }
} finally {
  await channel.stop();
  for (const worker of workers) worker.signal("SIGTERM");
  await Promise.all(workers.map(({ finished }) => finished));
  server.signal("SIGTERM");
  await server.finished;
  await rm(dataDir, { recursive: true, force: true });
}

interface Run {
  readonly tookMs: number;
  readonly metadata: ExecutedActionMetadata;
}

/** By the clocks of one machine. */
function between(from: Timestamp | undefined, to: Timestamp | undefined): number {
  return from === undefined || to === undefined ? 0 : preciseMs(to) - preciseMs(from);
}

function preciseMs(at: Timestamp): number {
  return timestampMs(at) + (at.nanos % 1e6) / 1e6;
}

function say(name: string, ms: readonly number[]): void {
  const { p50, p99 } = percentilesOf(ms);
  process.stdout.write(
    `${name.padEnd(44)} p50 ${p50.toFixed(1).padStart(6)} ms, p99 ${p99.toFixed(1).padStart(6)} ms\n`,
  );
}
