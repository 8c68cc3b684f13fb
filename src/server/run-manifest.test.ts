import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { Run } from "#api/graph.ts";
import { RunManifest } from "#api/manifest.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { digestKey } from "#core/digest.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { sampleEnded, sampleGraph, sampleTime } from "../../test/support/sample-graph.ts";
import { runManifest } from "./run-manifest.ts";

const sampleRun: Omit<Run, "outputs"> = {
  number: 1,
  cause: "first",
  requestedBy: null,
  why: null,
  servedBy: "execution",
  state: "finished",
  outcome: "succeeded",
  exitCode: 0,
  message: null,
  actionDigest: "",
  executionId: null,
  cachedFrom: null,
  attempt: 1,
  worker: "w",
  wantedAt: sampleTime(0),
  readyAt: sampleTime(0),
  queuedAt: sampleTime(0),
  dueAt: null,
  startedAt: sampleTime(0),
  finishedAt: sampleTime(5_000),
  userMs: null,
  systemMs: null,
  peakMemoryBytes: null,
  failureClass: null,
  errorLines: [],
  numbers: {},
};

/** The manifest of a run whose outputs are these files. */
async function manifestOf(files: Readonly<Record<string, string>>, more: Partial<Run> = {}) {
  const blobs = memoryBlobStore();
  const made = Object.entries(files).map(([path, text]) => {
    const bytes = Buffer.from(text);
    return { path, bytes, digest: digestOf(bytes) };
  });
  for (const { digest, bytes } of made) await blobs.put(digest, bytes);
  const outputFiles = made.map(({ path, digest }) => ({ path, digest: toDigestMessage(digest) }));
  const stdoutDigest = toDigestMessage(digestOf(Buffer.from("log")));
  const result = toBinary(
    ActionResultSchema,
    create(ActionResultSchema, { outputFiles, stdoutDigest }),
  );
  const run: Run = {
    ...sampleRun,
    outputs: made.map(({ path, digest }) => ({
      path,
      kind: "file" as const,
      digest: digestKey(digest),
      sizeBytes: digest.sizeBytes,
    })),
    ...more,
  };
  const job = sampleEnded("test/unit", 0, 5_000);
  return runManifest(() => blobs, { graph: sampleGraph([job]), job }, run, {
    project: "default",
    executionId: null,
    actionDigest: null,
    attempt: 1,
    result,
    cachedFromGraph: null,
    cachedFromJob: null,
  });
}

test("a manifest stands alone, and names all that the run made", async () => {
  const manifest = await manifestOf({ "dist/a b.txt": "made" });

  expect(RunManifest.parse(manifest)).toEqual(manifest);
  expect(manifest).toMatchObject({
    format: 1,
    job: "test/unit",
    outcome: "succeeded",
    outputs: [
      {
        path: "dist/a b.txt",
        sizeBytes: 4,
        url: expect.stringContaining("/jobs/test%2Funit/runs/1/outputs/dist/a%20b.txt") as string,
      },
    ],
    log: { digest: digestKey(digestOf(Buffer.from("log"))) },
    extra: null,
    extraProblem: null,
  });
});

test("what the job says of itself comes along", async () => {
  expect(await manifestOf({ "manifest.json": '{"score": 7}' })).toMatchObject({
    extra: { score: 7 },
    extraProblem: null,
  });
});

test.each([
  { text: "{", problem: "cannot be read as JSON" },
  { text: `"${"x".repeat(65_536)}"`, problem: "more than 65536" },
])("what it says badly is told, and hides nothing else: $problem", async ({ text, problem }) => {
  expect(await manifestOf({ "manifest.json": text })).toMatchObject({
    outcome: "succeeded",
    extra: null,
    extraProblem: expect.stringContaining(problem) as string,
  });
});

test("a run that is under way has no manifest", async () => {
  await expect(
    manifestOf({}, { state: "running", outcome: null, finishedAt: null }),
  ).rejects.toThrow("is not over");
});
