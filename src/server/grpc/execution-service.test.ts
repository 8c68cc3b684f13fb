import { create } from "@bufbuild/protobuf";
import { anyUnpack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { everybody, type Grant, type Principal } from "#access/principal.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { type Digest, emptyDigest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { movableClock } from "#execution/execution.fixture.ts";
import {
  ActionCache,
  ActionResultSchema,
  DirectorySchema,
  type ExecuteResponse,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Operations } from "#proto/google/longrunning/operations_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { PreconditionFailureSchema } from "#proto/google/rpc/error_details_pb.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { fakeWorker, type Rev2Server, responseOf, rev2Server } from "./rev2-farm.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

const grant = (verb: Grant["verb"], repository: string): Grant => ({
  verb,
  repository,
  branch: "*",
  priorityCap: null,
  top: false,
});
const principals: Record<string, Principal> = {
  "Bearer builder": { name: "builder", grants: [grant("execute", "mine/*")] },
  "Bearer other": { name: "other", grants: [grant("execute", "mine/*")] },
  "Bearer boss": { name: "boss", grants: [grant("cancel", "*")] },
};

let farm: Rev2Server;
let worker: Awaited<ReturnType<typeof fakeWorker>>;
beforeEach(async () => {
  await db.script("truncate execution, worker, operation, invocation, action_result cascade");
  farm = await rev2Server({
    db,
    clock: movableClock(),
    blobs: memoryBlobStore(),
    async identify(authorization) {
      const found = authorization === undefined ? everybody : principals[authorization];
      if (found === undefined) throw new Fault("unauthenticated", "who is that?");
      return found;
    },
  });
  worker = await fakeWorker(farm);
});
afterEach(() => farm.stop());

const nothing = new Uint8Array();
const success = {
  outcome: Outcome.SUCCEEDED,
  result: create(ActionResultSchema, { exitCode: 0 }),
};

function missingIn({ status }: ExecuteResponse): string[] {
  expect(status?.code).toBe(Code.FAILED_PRECONDITION);
  expect(status?.details).toHaveLength(1);
  const failure = status?.details[0] && anyUnpack(status.details[0], PreconditionFailureSchema);
  expect(new Set(failure?.violations.map(({ type }) => type))).toEqual(new Set(["MISSING"]));
  return (failure?.violations ?? []).map(({ subject }) => subject).toSorted();
}

const subjects = (digests: readonly Digest[]) =>
  digests.map(({ hash, sizeBytes }) => `blobs/${hash}/${sizeBytes}`).toSorted();

function gone(text: string): Digest {
  return digestOf(Buffer.from(text));
}

/** An input root that lacks a file and a directory, and a file deep below. */
async function rootWithGaps() {
  const missing = { file: gone("file"), folder: gone("folder"), deep: gone("deep") };
  const below = await farm.put(DirectorySchema, {
    files: [{ name: "deep", digest: toDigestMessage(missing.deep) }],
  });
  const root = await farm.put(DirectorySchema, {
    files: [
      { name: "a", digest: toDigestMessage(missing.file) },
      { name: "b", digest: toDigestMessage(missing.file) },
    ],
    directories: [
      { name: "c", digest: toDigestMessage(missing.folder) },
      { name: "d", digest: toDigestMessage(below) },
      { name: "e", digest: toDigestMessage(below) },
    ],
  });
  return { root, missing: Object.values(missing) };
}

describe("what is missing", () => {
  test("is all named at once when the worker misses a part, to all who joined", async () => {
    const { root, missing } = await rootWithGaps();
    const action = await farm.anAction("gaps", { inputRootDigest: toDigestMessage(root) });
    const streams = [farm.execute(action), farm.execute(action)];
    for (const stream of streams) await stream.next();

    await (await worker.begin())?.end({
      outcome: Outcome.INFRASTRUCTURE_ERROR,
      missingInputs: missing.slice(0, 1).map(toDigestMessage),
    });

    for (const stream of streams)
      expect(missingIn(responseOf(await stream.end()))).toEqual(subjects(missing));
  });

  test("is all named at once when the command is gone", async () => {
    const { root, missing } = await rootWithGaps();
    const command = gone("command");
    const action = await farm.anAction("gaps", {
      commandDigest: toDigestMessage(command),
      inputRootDigest: toDigestMessage(root),
    });

    const end = await farm.execute(action).end();

    expect(missingIn(responseOf(end))).toEqual(subjects([command, ...missing]));
  });

  test("is what the worker said, though it has come meanwhile", async () => {
    const late = Buffer.from("late");
    const stream = farm.execute(await farm.anAction("late"));
    await stream.next();
    const work = await worker.begin();
    await farm.blobs.put(digestOf(late), late);
    await work?.end({
      outcome: Outcome.INFRASTRUCTURE_ERROR,
      missingInputs: [toDigestMessage(digestOf(late))],
    });

    expect(missingIn(responseOf(await stream.end()))).toEqual(subjects([digestOf(late)]));
  });
});

describe("a request is refused", () => {
  const twice = {
    properties: [
      { name: "OSFamily", value: "linux" },
      { name: "OSFamily", value: "other" },
    ],
  };
  const unsizable = { properties: [{ name: "min-size-class", value: "large" }] };

  test.each([
    ["with no digest", () => ({ actionDigest: undefined })],
    ["with a hash that is none", () => ({ actionDigest: { hash: "abc", sizeBytes: 3n } })],
    ["for an instance that cannot be", () => ({ instanceName: "a/blobs/b" })],
  ])("%s", async (_, changes) => {
    const action = await farm.anAction("sound");

    const refused = farm.execute(action, changes()).next();

    await expect(refused).rejects.toMatchObject({ code: "invalid_argument" });
  });

  test.each([
    ["whose platform contradicts itself", { platform: twice }],
    ["whose size class is none", { platform: unsizable }],
    ["without an input root", { inputRootDigest: undefined as never }],
  ])("for an action %s", async (_, changes) => {
    const action = await farm.anAction("unsound", changes);

    await expect(farm.execute(action).next()).rejects.toMatchObject({ code: "invalid_argument" });
  });

  test("for what is no action at all", async () => {
    const json = Buffer.from('{"not": "an action"}');
    await farm.blobs.put(digestOf(json), json);

    const refused = farm.execute(digestOf(json)).next();

    await expect(refused).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

test("a platform may come unsorted, say a thing twice, and be the command's", async () => {
  const properties = [
    { name: "OSFamily", value: "linux" },
    { name: "OSFamily", value: "linux" },
  ];
  const changes = { platform: undefined as never };
  const stream = farm.execute(
    await farm.anAction("command's platform", changes, { platform: { properties } }),
  );
  await stream.next();

  await (await worker.begin())?.end(success);

  expect(responseOf(await stream.end()).result?.exitCode).toBe(0);
});

test("a timeout is the action's end, with what it made, and Operation.error stays empty", async () => {
  const stream = farm.execute(await farm.anAction("long", { timeout: durationFromMs(1_000) }));
  await stream.next();
  await (await worker.begin())?.end({
    outcome: Outcome.TIMED_OUT,
    result: create(ActionResultSchema, { exitCode: 137, stdoutRaw: Buffer.from("so far") }),
  });

  const end = await stream.end();

  expect(end.result.case).toBe("response");
  expect(responseOf(end)).toMatchObject({
    status: { code: Code.DEADLINE_EXCEEDED },
    result: { exitCode: 137 },
  });
});

describe("the cache", () => {
  async function run(action: Digest, changes: Parameters<Rev2Server["execute"]>[1] = {}) {
    const stream = farm.execute(action, changes);
    const first = await stream.next();
    if (first.done) return { end: responseOf(first), wasRun: false };
    const work = await worker.begin();
    await work?.end(success);
    return { end: responseOf(await stream.end()), wasRun: work !== undefined };
  }

  test("serves whom it may, and is asked again only by who wants that", async () => {
    const action = await farm.anAction("cached");

    const first = await run(action);
    const second = await run(action);
    const third = await run(action, { skipCacheLookup: true });
    const elsewhere = await run(action, { instanceName: "other" });

    expect([first, second, third, elsewhere].map(({ wasRun }) => wasRun)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(second.end).toMatchObject({ cachedResult: true, status: { code: Code.OK } });
  });

  test("never has what must not be kept, nor are such actions run as one", async () => {
    const action = await farm.anAction("uncacheable", { doNotCache: true });
    const streams = [farm.execute(action), farm.execute(action)];
    for (const stream of streams) await stream.next();

    for (const _ of streams) await (await worker.begin())?.end(success);
    for (const stream of streams) await stream.end();

    expect((await run(action)).wasRun).toBe(true);
  });

  test("never has failures", async () => {
    const action = await farm.anAction("fails");
    const stream = farm.execute(action);
    await stream.next();
    await (await worker.begin())?.end({
      outcome: Outcome.FAILED,
      result: create(ActionResultSchema, { exitCode: 3 }),
    });

    expect(responseOf(await stream.end())).toMatchObject({
      status: { code: Code.OK },
      result: { exitCode: 3 },
    });
    const asked = farm.channel.unary(ActionCache.method.getActionResult, {
      actionDigest: toDigestMessage(action),
    });
    await expect(asked).rejects.toMatchObject({ code: "not_found" });
  });

  test("is passed by who joins what is under way", async () => {
    const action = await farm.anAction("in flight");
    const first = farm.execute(action);
    await first.next();
    const second = farm.execute(action, { skipCacheLookup: true });
    await second.next();

    await (await worker.begin())?.end(success);

    expect(await worker.begin(0)).toBeUndefined();
    for (const stream of [first, second])
      expect(responseOf(await stream.end()).cachedResult).toBe(false);
  });
});

test("outputs are inlined on request, and symlinks said in the words of old clients", async () => {
  const text = Buffer.from("made");
  await farm.blobs.put(digestOf(text), text);
  const made = { path: "out", digest: toDigestMessage(digestOf(text)) };
  const result = create(ActionResultSchema, {
    outputFiles: [made, { ...made, path: "more" }],
    outputSymlinks: [
      { path: "link", target: "out" },
      { path: "dir", target: "elsewhere" },
    ],
    stdoutDigest: made.digest,
  });
  const legacy = { outputFiles: ["out", "more", "link"], outputDirectories: ["dir"] };
  const stream = farm.execute(await farm.anAction("old client", {}, legacy), {
    inlineStdout: true,
    inlineOutputFiles: ["out"],
  });
  await stream.next();
  await (await worker.begin())?.end({ outcome: Outcome.SUCCEEDED, result });

  const got = responseOf(await stream.end()).result;

  expect(Buffer.from(got?.stdoutRaw ?? nothing).toString()).toBe("made");
  expect(got?.outputFiles.map(({ contents }) => Buffer.from(contents).toString())).toEqual([
    "made",
    "",
  ]);
  expect(got?.outputFileSymlinks.map(({ path }) => path)).toEqual(["link"]);
  expect(got?.outputDirectorySymlinks.map(({ path }) => path)).toEqual(["dir"]);
});

describe("who calls", () => {
  const as = (token: string) => ({ metadata: { authorization: token } });
  const { getOperation, cancelOperation } = Operations.method;
  const { execute } = Execution.method;

  async function firstAs(token: string, instanceName: string) {
    const actionDigest = toDigestMessage(await farm.anAction(`as ${token}`));
    const leaving = new AbortController();
    const asked = farm.channel.serverStream(
      execute,
      { actionDigest, instanceName },
      { ...as(token), signal: leaving.signal },
    );
    for await (const operation of asked) return operation;
    throw new Error("nothing came");
  }

  test("may execute where a grant says so", async () => {
    expect((await firstAs("Bearer builder", "mine/a")).done).toBe(false);
    await expect(firstAs("Bearer builder", "")).rejects.toMatchObject({
      code: "permission_denied",
    });
  });

  test("is refused with a wrong token, also where anyone may read", async () => {
    const actionDigest = toDigestMessage(emptyDigest);
    const { getActionResult } = ActionCache.method;

    await expect(
      farm.channel.unary(getActionResult, { actionDigest }, as("Bearer nobody")),
    ).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test("may cancel what is his, or what a grant says", async () => {
    const { name } = await firstAs("Bearer builder", "mine/a");

    await expect(
      farm.channel.unary(cancelOperation, { name }, as("Bearer other")),
    ).rejects.toMatchObject({ code: "permission_denied" });
    expect((await farm.channel.unary(getOperation, { name })).done).toBe(false);
    await farm.channel.unary(cancelOperation, { name }, as("Bearer builder"));
    expect((await farm.channel.unary(getOperation, { name })).done).toBe(true);
    const another = await firstAs("Bearer other", "mine/b");
    await farm.channel.unary(cancelOperation, { name: another.name }, as("Bearer boss"));
    expect((await farm.channel.unary(getOperation, { name: another.name })).done).toBe(true);
  });
});
