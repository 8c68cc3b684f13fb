import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyUnpack, type Duration, durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { grpcCallers } from "#caches/rev2/caller.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { type Digest, emptyDigest } from "#core/digest.ts";
import { sql } from "#db/sql.ts";
import { aQueue, movableClock, silent } from "#execution/execution.fixture.ts";
import { listWorkers } from "#execution/leasing/worker.store.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { grpcServer } from "#grpc/server.ts";
import { askingNotes } from "#invocations/asking-notes.ts";
import { operationService } from "#invocations/operation-service.ts";
import {
  ActionResultSchema,
  ActionSchema,
  CommandSchema,
  ExecuteOperationMetadataSchema,
  ExecuteResponseSchema,
  Execution,
  ExecutionStage_Value,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Operation } from "#proto/google/longrunning/operations_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { PreconditionFailureSchema } from "#proto/google/rpc/error_details_pb.ts";
import {
  type FinishedSchema,
  FinishResponse_Verdict,
  Outcome,
  Workers,
} from "#proto/grange/worker/v1/worker_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { executionService } from "./execution-service.ts";
import { workersService } from "./workers-service.ts";

const db = await freshDb();
const blobs = memoryBlobStore();
const clock = movableClock();
const queue = await aQueue(db, { clock });
const operations = await operationService({ db, queue, clock, logger: silent });
const notes = askingNotes({ db, clock, logger: silent });
const server = grpcServer({
  methods: [
    ...workersService({ queue, blobsOf: () => blobs }),
    ...executionService({
      operations,
      notes,
      blobsOf: () => blobs,
      callers: grpcCallers({ identify: async () => everybody }),
      lookUpResult: async () => undefined,
      defaultTimeoutMs: 60_000,
    }),
  ],
});
server.http2.listen(0, "127.0.0.1");
await once(server.http2, "listening");
const { port } = server.http2.address() as AddressInfo;
const channel = new GrpcChannel({ url: `http://127.0.0.1:${port}` });
afterAll(async () => {
  await channel.stop();
  await server.stop();
  await operations.stop();
  await notes.stop();
  await queue.stop();
  await db.close();
});

const me = { workerName: "w", instanceId: "instance-1" };
const { register, claim, started, finish, appendLog, heartbeat } = Workers.method;

beforeEach(async () => {
  await db.script("truncate execution, worker cascade");
  await channel.unary(register, {
    name: "w",
    instanceId: "instance-1",
    platform: { OSFamily: "linux" },
    sizeClass: 1,
    slots: 1,
  });
});

async function put<S extends DescMessage>(schema: S, init: MessageInitShape<S>): Promise<Digest> {
  const bytes = toBinary(schema, create(schema, init));
  const digest = digestOf(bytes);
  await blobs.put(digest, bytes);
  return digest;
}

async function anAction(
  script: string,
  timeout: Duration | null = durationFromMs(5_000),
): Promise<Digest> {
  const command = await put(CommandSchema, { arguments: ["/bin/sh", "-c", script] });
  return put(ActionSchema, {
    commandDigest: toDigestMessage(command),
    inputRootDigest: toDigestMessage(emptyDigest),
    platform: { properties: [{ name: "OSFamily", value: "linux" }] },
    ...(timeout && { timeout }),
  });
}

function executeAction(digest: Digest) {
  return channel.serverStream(Execution.method.execute, { actionDigest: toDigestMessage(digest) });
}

function stageOf(operation: Operation): ExecutionStage_Value | undefined {
  return operation.metadata && anyUnpack(operation.metadata, ExecuteOperationMetadataSchema)?.stage;
}

function responseOf(operation: Operation | undefined) {
  return operation?.result.case === "response"
    ? anyUnpack(operation.result.value, ExecuteResponseSchema)
    : undefined;
}

/** A worker for one execution: it claims the next one and ends it as the test requests. */
async function workOnce(end: Omit<MessageInitShape<typeof FinishedSchema>, "$typeName">) {
  const { leases } = await channel.unary(claim, { ...me, most: 1, wait: durationFromMs(5_000) });
  const work = leases[0];
  if (work?.lease === undefined) throw new Error("there was no work");
  await channel.unary(started, { lease: work.lease });
  const log = await channel.unary(appendLog, {
    lease: work.lease,
    offset: 0n,
    data: new Uint8Array(3),
  });
  const { verdicts } = await channel.unary(finish, {
    ...me,
    finished: [{ ...end, lease: work.lease }],
  });
  return { work, log, verdicts };
}

test("an action goes from a client through the queue to a worker and back", async () => {
  const digest = await anAction("true");
  const worker = workOnce({
    outcome: Outcome.SUCCEEDED,
    result: create(ActionResultSchema, { exitCode: 0, stdoutRaw: new Uint8Array([104, 105]) }),
    usage: { userTime: durationFromMs(12), peakMemoryBytes: 5n, measuredBy: "proc" },
  });

  const operations: Operation[] = [];
  for await (const operation of executeAction(digest)) operations.push(operation);
  const { work, log, verdicts } = await worker;

  expect(work.actionDigest).toEqual(toDigestMessage(digest));
  expect(digestOf(work.action)).toEqual(digest);
  expect(work.timeout && durationMs(work.timeout)).toBe(5_000);
  expect(log).toMatchObject({ accepted: true, nextOffset: 3n });
  expect(verdicts).toEqual([FinishResponse_Verdict.PUBLISHED]);
  expect(new Set(operations.map(({ name }) => name)).size).toBe(1);
  expect(operations[0]?.name).toMatch(/^operations\//);
  expect(operations.map(stageOf).at(-1)).toBe(ExecutionStage_Value.COMPLETED);
  const response = responseOf(operations.at(-1));
  expect(response?.status?.code ?? Code.OK).toBe(Code.OK);
  expect(response?.result).toMatchObject({ exitCode: 0, executionMetadata: { worker: "w" } });

  // A client that lost the stream can reconnect by the operation's name.
  const again: Operation[] = [];
  for await (const operation of channel.serverStream(Execution.method.waitExecution, {
    name: operations[0]?.name ?? "",
  }))
    again.push(operation);
  expect(again.map(({ done }) => done)).toEqual([true]);
});

test("a worker is given a timeout also where the action says none", async () => {
  const digest = await anAction("no timeout", null);
  const worker = workOnce({ outcome: Outcome.SUCCEEDED, result: create(ActionResultSchema) });

  for await (const _ of executeAction(digest));
  const { work } = await worker;

  expect(work.timeout && durationMs(work.timeout)).toBe(60_000);
});

test("a timeout is said inside the response", async () => {
  const worker = workOnce({
    outcome: Outcome.TIMED_OUT,
    result: create(ActionResultSchema, { exitCode: 137 }),
  });
  let last: Operation | undefined;
  for await (const operation of executeAction(await anAction("sleep 9"))) last = operation;
  await worker;

  expect(responseOf(last)).toMatchObject({
    status: { code: Code.DEADLINE_EXCEEDED },
    result: { exitCode: 137 },
  });
});

test.each([
  { when: "the server lacks the action", missing: [digestOf(new Uint8Array([9]))] },
  {
    when: "a worker lacks inputs",
    missing: [digestOf(new Uint8Array([7])), digestOf(new Uint8Array([8]))],
  },
])("missing blobs are named all at once when $when", async ({ missing }) => {
  const isFoundByWorker = missing.length > 1;
  const worker = isFoundByWorker
    ? workOnce({
        outcome: Outcome.INFRASTRUCTURE_ERROR,
        missingInputs: missing.map(toDigestMessage),
      })
    : undefined;
  const asked = isFoundByWorker ? await anAction("cat gone") : missing[0];
  let last: Operation | undefined;
  for await (const operation of executeAction(asked ?? emptyDigest)) last = operation;
  await worker;

  const status = responseOf(last)?.status;
  expect(status?.code).toBe(Code.FAILED_PRECONDITION);
  expect(status?.details).toHaveLength(1);
  const failure = status?.details[0] && anyUnpack(status.details[0], PreconditionFailureSchema);
  expect(failure?.violations.map(({ type, subject }) => `${type} ${subject}`)).toEqual(
    missing.map(({ hash, sizeBytes }) => `MISSING blobs/${hash}/${sizeBytes}`),
  );
});

test("what workers send is checked at the door", async () => {
  const sound = { name: "w", instanceId: "instance-1", sizeClass: 1, slots: 1 };
  const bad = [
    channel.unary(register, { name: "a b", instanceId: "instance-1", sizeClass: 1, slots: 1 }),
    channel.unary(register, { name: "w", instanceId: "instance-1", sizeClass: 0, slots: 1 }),
    channel.unary(register, { ...sound, host: "a\0b" }),
    channel.unary(register, { ...sound, version: "\0" }),
    channel.unary(register, { ...sound, cpus: -1 }),
    channel.unary(register, { ...sound, cpus: Infinity }),
    channel.unary(register, { ...sound, memoryBytes: -1n }),
    channel.unary(register, { ...sound, memoryBytes: 2n ** 63n - 1n }),
    channel.unary(register, { ...sound, facilities: { sandbox: "\0" } }),
    channel.unary(register, { ...sound, platform: { OSFamily: "\0" } }),
    channel.unary(register, { ...sound, lease: { seconds: -1n, nanos: 0 } }),
    channel.unary(started, { lease: { executionId: "x", attempt: 1, epoch: 1n } }),
    channel.unary(finish, { ...me, finished: [{ outcome: Outcome.SUCCEEDED }] }),
  ];

  for (const each of await Promise.allSettled(bad))
    expect(each).toMatchObject({ status: "rejected", reason: { code: "invalid_argument" } });
});

test("what a slot gives is known of a worker, and nothing where it says nothing", async () => {
  const slot = async () => {
    const [{ cpus, memoryBytes } = {}] = await listWorkers(db);
    return { cpus, memoryBytes };
  };
  expect(await slot()).toEqual({ cpus: null, memoryBytes: null });

  const said = { cpus: 1.5, memoryBytes: 6n * 1024n ** 3n };
  await channel.unary(register, { ...me, name: "w", sizeClass: 1, slots: 1, ...said });

  expect(await slot()).toEqual({ cpus: 1.5, memoryBytes: 6 * 1024 ** 3 });
});

test.each([
  { what: "more time than there is", usage: { userTime: { seconds: 2n ** 62n, nanos: 0 } } },
  { what: "more memory than there is", usage: { peakMemoryBytes: 2n ** 63n - 1n } },
  { what: "NUL as its way to measure", usage: { measuredBy: "proc\0" } },
  {
    what: "half a letter as its way to measure",
    usage: { measuredBy: `${"x".repeat(63)}\u{1F600}` },
  },
])("a worker that reports $what ends its work all the same", async ({ usage }) => {
  const worker = workOnce({
    outcome: Outcome.SUCCEEDED,
    result: create(ActionResultSchema, { exitCode: 0 }),
    usage,
  });
  const digest = await anAction(`true ${JSON.stringify(usage, (_, each) => String(each))}`);
  for await (const _ of executeAction(digest));

  expect((await worker).verdicts).toEqual([FinishResponse_Verdict.PUBLISHED]);
});

test("a worker that names a lease beyond all numbers hurts nobody who beats with it", async () => {
  void executeAction(await anAction("beaten")).next();
  const { leases } = await channel.unary(claim, { ...me, most: 1, wait: durationFromMs(5_000) });
  const held = leases.flatMap(({ lease }) => lease ?? []);
  const beyond = held.map((lease) => ({ ...lease, epoch: 2n ** 63n - 1n }));

  const [hostile, honest] = await Promise.allSettled([
    channel.unary(heartbeat, { ...me, leases: beyond }),
    channel.unary(heartbeat, { ...me, leases: held }),
  ]);

  expect(hostile).toMatchObject({ status: "rejected", reason: { code: "invalid_argument" } });
  expect(honest).toMatchObject({ status: "fulfilled", value: { lost: [] } });
});

test.each([2n ** 62n, -(2n ** 62n)])("a start at second %s is one of now", async (seconds) => {
  void executeAction(await anAction(`started ${seconds}`)).next();
  const { leases } = await channel.unary(claim, { ...me, most: 1, wait: durationFromMs(5_000) });
  const lease = leases[0]?.lease;
  if (lease === undefined) throw new Error("there was no work");

  expect(await channel.unary(started, { lease, at: { seconds, nanos: 0 } })).toMatchObject({
    accepted: true,
  });
});

test.each([
  { asked: -(2 ** 31), given: -1_000 },
  { asked: 2 ** 31 - 1, given: 1_000 },
  { asked: -7, given: -7 },
])(
  "a client that asks for priority $asked gets $given, and never the top class",
  async ({ asked, given }) => {
    const actionDigest = toDigestMessage(await anAction(`priority ${asked}`));
    const operations = channel.serverStream(Execution.method.execute, {
      actionDigest,
      executionPolicy: { priority: asked },
    });
    await operations.next();

    const row = z.object({ priority: z.number(), isTop: z.boolean() });
    expect(await db.many(row, sql`select priority, lane < 0 as "isTop" from execution`)).toEqual([
      { priority: given, isTop: false },
    ]);
  },
);

test("a worker that the server does not know is told to register", async () => {
  const stranger = { workerName: "w", instanceId: "instance-2" };

  await expect(channel.unary(claim, { ...stranger, most: 1 })).rejects.toMatchObject({
    code: "not_found",
  });
  expect(await channel.unary(heartbeat, stranger)).toMatchObject({ unknownWorker: true });
});
