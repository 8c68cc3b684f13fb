import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyUnpack, durationMs } from "@bufbuild/protobuf/wkt";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { encodeDirectory } from "#cas/directory-message.ts";
import type { Digest } from "#core/digest.ts";
import type { Service } from "#core/service.ts";
import {
  ActionSchema,
  DirectorySchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { POSIXResourceUsageSchema } from "#proto/buildbarn/resourceusage/resourceusage_pb.ts";
import { type Finished, Outcome, ResourceUsageSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import { readWorkerConfig } from "./config.ts";
import { FakeFarm, type FakeJob } from "./fake-farm.fixture.ts";
import { startWorkerOn } from "./start-worker.ts";
import { storeDirectoryIn } from "./store-directory.ts";

const farm = new FakeFarm();
const dataDir = mkdtempSync(join(tmpdir(), "grange-rev2-"));
const config = readWorkerConfig({ server: "http://127.0.0.1:1", name: "w1", dataDir, slots: 2 });
const logger = pino({ level: "silent" });
let worker: Service;
beforeAll(async () => {
  worker = await startWorkerOn(farm, { ...config, killGraceMs: 300, drainMs: 100 }, logger);
});
afterAll(async () => {
  await worker?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();
const printed = async (job: FakeJob) => text((await farm.run(job)).result?.stdoutRaw);

/** Runs a command on a tree that no test helper can make. */
async function runOn(root: Digest, script: string): Promise<Finished> {
  const id = `t${Math.random()}`;
  const work = await farm.workOf({ script }, id);
  const action = fromBinary(ActionSchema, work.action);
  action.inputRootDigest = toDigestMessage(root);
  farm.enqueue({ ...work, action: toBinary(ActionSchema, action) });
  return farm.end(id);
}

async function put(bytes: Uint8Array): Promise<Digest> {
  await farm.store.put(digestOf(bytes), bytes);
  return digestOf(bytes);
}

test("lists all missing blobs of a tree, directories and files, at once", async () => {
  const absent = ["dir", "file one", "file two"].map((name) => digestOf(Buffer.from(name)));
  const [directory, one, two] = absent.map(toDigestMessage);
  const sub = encodeDirectory(
    create(DirectorySchema, { files: [{ name: "deep", ...(two ? { digest: two } : {}) }] }),
  );
  await put(sub.bytes);
  const root = encodeDirectory(
    create(DirectorySchema, {
      files: [{ name: "f", ...(one ? { digest: one } : {}) }],
      directories: [
        { name: "lost", ...(directory ? { digest: directory } : {}) },
        { name: "sub", digest: toDigestMessage(sub.digest) },
      ],
    }),
  );
  await put(root.bytes);

  const { outcome, missingInputs } = await runOn(root.digest, "true");

  expect(outcome).toBe(Outcome.INFRASTRUCTURE_ERROR);
  expect(missingInputs.map(({ hash }) => hash).toSorted()).toEqual(
    absent.map(({ hash }) => hash).toSorted(),
  );
});

test("gives inputs the times and modes that their client requested, and no others", async () => {
  const digest = toDigestMessage(await put(Buffer.from("same")));
  const mtime = { seconds: 1_600_000_000n, nanos: 0 };
  const nodeProperties = { mtime, unixMode: 0o4640 };
  const sub = encodeDirectory(
    create(DirectorySchema, { nodeProperties: { unixMode: 0o750, mtime }, files: [] }),
  );
  await put(sub.bytes);
  const root = encodeDirectory(
    create(DirectorySchema, {
      files: [
        { name: "a", digest, nodeProperties },
        { name: "b", digest },
      ],
      directories: [{ name: "d", digest: toDigestMessage(sub.digest) }],
    }),
  );
  await put(root.bytes);

  const { result } = await runOn(root.digest, "stat -c '%n %a %Y' a b d; cat a b");

  expect(text(result?.stdoutRaw)).toBe(
    "a 640 1600000000\nb 644 1262304000\nd 750 1600000000\nsamesame",
  );
});

test("finds a program without a slash in the command's PATH, and one with a slash in the working directory", async () => {
  const inputs = [{ path: "w/tools/hello", text: "#!/bin/sh\necho hello $#\n", executable: true }];
  const run = (program: string) =>
    printed({
      inputs,
      environment: { PATH: "/usr/bin:/bin:tools" },
      command: { arguments: [program, "a b"], workingDirectory: "w" },
    });

  expect(await run("hello")).toBe("hello 1\n");
  expect(await run("./tools/hello")).toBe("hello 1\n");
});

test("reports a process that a signal ended as a shell does, and names the signal", async () => {
  const { outcome, result } = await farm.run({ script: "kill -SEGV $$" });

  expect(outcome).toBe(Outcome.FAILED);
  expect(result?.exitCode).toBe(128 + 11);
  const posix = result?.executionMetadata?.auxiliaryMetadata
    .map((any) => anyUnpack(any, POSIXResourceUsageSchema))
    .find(Boolean);
  expect(posix?.terminationSignal).toBe("SEGV");
});

test("collects outputs and logs after a timeout", async () => {
  const { outcome, result } = await farm.run({
    script: "echo begun; echo partial > o; exec sleep 100",
    command: { outputPaths: ["o"] },
    timeoutMs: 1_500,
  });

  expect(outcome).toBe(Outcome.TIMED_OUT);
  expect(text(result?.stdoutRaw)).toBe("begun\n");
  expect(result?.outputFiles.map(({ path }) => path)).toEqual(["o"]);
});

test("reports the time of each phase, and the resources of the run", async () => {
  const { result } = await farm.run({
    inputs: [{ path: "a", text: "fetched once" }],
    script: "sleep 0.05",
  });

  const metadata = result?.executionMetadata;
  const phases = [
    metadata?.workerStartTimestamp,
    metadata?.inputFetchStartTimestamp,
    metadata?.inputFetchCompletedTimestamp,
    metadata?.executionStartTimestamp,
    metadata?.executionCompletedTimestamp,
    metadata?.outputUploadStartTimestamp,
    metadata?.outputUploadCompletedTimestamp,
    metadata?.workerCompletedTimestamp,
  ].map((at) => (at === undefined ? Number.NaN : Number(at.seconds) * 1e3 + at.nanos / 1e6));
  expect(phases).toEqual(phases.toSorted((a, b) => a - b));
  expect(metadata?.worker).toBe("w1");
  const ran = metadata?.virtualExecutionDuration;
  expect(ran && durationMs(ran)).toBeGreaterThanOrEqual(50);
  const ours = metadata?.auxiliaryMetadata
    .map((any) => anyUnpack(any, ResourceUsageSchema))
    .find(Boolean);
  expect(ours?.measuredBy).not.toBe("");
  expect(Number(ours?.fetchedBlobs)).toBe(2);
});

test("rejects an output of the wrong kind, with a message if the rest succeeded", async () => {
  const { outcome, message, result } = await farm.run({
    script: "mkdir o; echo kept > p",
    command: { outputFiles: ["o", "p"] },
  });

  expect(outcome).toBe(Outcome.FAILED);
  expect(message).toContain('output "o" is a directory');
  expect(result?.exitCode).toBe(0);
  expect(result?.outputFiles.map(({ path }) => path)).toEqual(["p"]);
});

test("a second worker in the same directory has its own places, and the same blobs", async () => {
  const second = new FakeFarm();
  const twin = await startWorkerOn(second, { ...config, name: "w2", drainMs: 100 }, logger);
  const job = { inputs: [{ path: "a", text: "for both" }], script: "cat a; echo x > b" };

  const both = await Promise.all([farm.run(job), second.run(job)]);

  await twin.stop();
  expect(both.map(({ result }) => text(result?.stdoutRaw))).toEqual(["for both", "for both"]);
  expect(readdirSync(join(dataDir, "spool")).toSorted()).toEqual(["w1", "w2"]);
  expect(await printed(job)).toBe("for both");
});

test("does not use a file of its store that another process wrote to", async () => {
  const bytes = Buffer.from("as it was uploaded");
  expect(await printed({ inputs: [{ path: "a", text: bytes.toString() }], script: "cat a" })).toBe(
    bytes.toString(),
  );
  const { hash } = digestOf(bytes);
  const spoilt = bytes.toString().replaceAll(/./g, "x");
  writeFileSync(join(storeDirectoryIn(dataDir), "blobs", hash.slice(0, 2), hash), spoilt);

  // In another tree: the layer of the first one still exists.
  const again = { inputs: [{ path: "b/a", text: bytes.toString() }], script: "cat b/a" };
  expect(await printed(again)).toBe(bytes.toString());
});
