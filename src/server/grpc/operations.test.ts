import { create } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { sql } from "#db/sql.ts";
import { movableClock } from "#execution/execution.fixture.ts";
import { cancelInvocation } from "#invocations/cancel-invocation.ts";
import {
  ActionResultSchema,
  ExecuteOperationMetadataSchema,
  ExecutionStage_Value,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type Operation, Operations } from "#proto/google/longrunning/operations_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { fakeWorker, type Rev2Server, responseOf, rev2Server } from "./rev2-farm.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

const times = { graceMs: 60_000, renewEveryMs: 3_600_000 };
let clock = movableClock();
let blobs = memoryBlobStore();
let opened: Rev2Server[] = [];

async function aServer(changes: Partial<Parameters<typeof rev2Server>[0]> = {}) {
  const server = await rev2Server({ db, clock, blobs, times, ...changes });
  opened.push(server);
  return server;
}

beforeEach(async () => {
  clock = movableClock();
  blobs = memoryBlobStore();
  await db.script(
    "truncate execution, worker, operation, invocation, cache_lookup, action_result cascade",
  );
});
afterEach(async () => {
  for (const server of opened) await server.stop();
  opened = [];
});

const success = {
  outcome: Outcome.SUCCEEDED,
  result: create(ActionResultSchema, { exitCode: 0, stdoutRaw: Buffer.from("hi") }),
};

function metadataIn({ metadata }: Operation) {
  return metadata && anyUnpack(metadata, ExecuteOperationMetadataSchema);
}

const Count = z.object({ count: z.number() });
async function liveExecutions(): Promise<number | undefined> {
  const [row] = await db.many(
    Count,
    sql`select count(*)::int as count from execution
        where state <> 'finished' and cancel_requested_at is null`,
  );
  return row?.count;
}

describe("an operation", () => {
  test("is each call's own, while one execution serves all who ask for the action", async () => {
    const farm = await aServer();
    const worker = await fakeWorker(farm);
    const action = await farm.anAction("shared");
    const [one, other] = [farm.execute(action), farm.execute(action)];
    const names = [(await one.next()).name, (await other.next()).name];

    const work = await worker.begin();
    const second = await worker.begin(0);
    await work?.end(success);

    expect(new Set(names).size).toBe(2);
    expect(second).toBeUndefined();
    for (const [i, stream] of [one, other].entries()) {
      const end = await stream.end();
      expect(end.name).toBe(names[i]);
      expect(responseOf(end)).toMatchObject({ result: { exitCode: 0 } });
    }
  });

  test("goes from waiting to running to its end", async () => {
    const farm = await aServer();
    const worker = await fakeWorker(farm);
    const stream = farm.execute(await farm.anAction("stages"));

    const queued = await stream.next();
    const work = await worker.begin();
    const running = await stream.next();
    await work?.end(success);
    const end = await stream.end();

    expect(metadataIn(queued)).toMatchObject({
      stage: ExecutionStage_Value.QUEUED,
      partialExecutionMetadata: { queuedTimestamp: { nanos: 0 } },
    });
    expect(metadataIn(running)).toMatchObject({
      stage: ExecutionStage_Value.EXECUTING,
      partialExecutionMetadata: { worker: "w" },
    });
    expect(metadataIn(end)?.stage).toBe(ExecutionStage_Value.COMPLETED);
    const { executionMetadata } = responseOf(end).result ?? {};
    expect(executionMetadata?.worker).toBe("w");
    const timesTold = Object.entries(executionMetadata ?? {}).flatMap(([name, value]) =>
      name.endsWith("Timestamp") && value !== undefined ? [name] : [],
    );
    expect(timesTold).toHaveLength(9);
  });

  test("was not queued after its worker began, by whichever clock", async () => {
    const farm = await aServer();
    const worker = await fakeWorker(farm);
    const stream = farm.execute(await farm.anAction("clock behind"));
    const workerStartTimestamp = { seconds: 1_000_000_000n, nanos: 5 };

    await stream.next();
    const work = await worker.begin();
    const result = { exitCode: 0, executionMetadata: { workerStartTimestamp } };
    await work?.end({ ...success, result });
    const { executionMetadata } = responseOf(await stream.end()).result ?? {};

    expect(executionMetadata?.queuedTimestamp).toMatchObject(workerStartTimestamp);
  });

  test("is said again while nothing happens", async () => {
    const farm = await aServer({ heartbeatMs: 20 });
    const stream = farm.execute(await farm.anAction("slow"));

    const [first, second, third] = [await stream.next(), await stream.next(), await stream.next()];

    expect([second, third]).toEqual([first, first]);
    await stream.leave();
  });

  test("can be waited for at another server, after its own is gone", async () => {
    const first = await aServer();
    const second = await aServer();
    const worker = await fakeWorker(second);
    const { name } = await first.execute(await first.anAction("moved")).next();
    await first.stop();
    opened = [second];

    const again = second.wait(name);
    await again.next();
    await (await worker.begin())?.end(success);

    expect(responseOf(await again.end())).toMatchObject({ result: { exitCode: 0 } });
    // The same again, long after the end.
    expect(responseOf(await second.wait(name).end())).toMatchObject({ result: { exitCode: 0 } });
  });

  test.each([
    "operations/5bd0a0e6-6e1e-4d35-9b1d-0a8d2f3a5c11",
    "operations/1",
    "executions/5bd0a0e6-6e1e-4d35-9b1d-0a8d2f3a5c11",
    "",
  ])("that nobody has opened is not found: %j", async (name) => {
    const farm = await aServer();

    await expect(farm.wait(name).next()).rejects.toMatchObject({ code: "not_found" });
    const { getOperation, cancelOperation } = Operations.method;
    await expect(farm.channel.unary(getOperation, { name })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(farm.channel.unary(cancelOperation, { name })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("can be asked for and waited for without a stream", async () => {
    const farm = await aServer();
    const worker = await fakeWorker(farm);
    const stream = farm.execute(await farm.anAction("polled"));
    const { name } = await stream.next();
    const { getOperation, waitOperation, deleteOperation } = Operations.method;

    const before = await farm.channel.unary(getOperation, { name });
    const waiting = farm.channel.unary(waitOperation, { name });
    await (await worker.begin())?.end(success);

    expect(before.done).toBe(false);
    expect(responseOf(await waiting)).toMatchObject({ result: { exitCode: 0 } });
    await farm.channel.unary(deleteOperation, { name });
    expect((await farm.channel.unary(getOperation, { name })).done).toBe(true);
    await stream.end();
  });

  test("waits no longer than its client", async () => {
    const farm = await aServer();
    const stream = farm.execute(await farm.anAction("long"));
    const { name } = await stream.next();

    const timeout = { seconds: 0n, nanos: 20_000_000 };
    const still = await farm.channel.unary(Operations.method.waitOperation, { name, timeout });

    expect(still).toMatchObject({ name, done: false });
    await stream.leave();
  });
});

describe("cancelling an operation", () => {
  test("ends it at once, and its execution when nobody else waits for that", async () => {
    const farm = await aServer();
    const other = await aServer();
    const worker = await fakeWorker(farm);
    const stream = farm.execute(await farm.anAction("alone"));
    const { name } = await stream.next();
    const work = await worker.begin();

    await other.channel.unary(Operations.method.cancelOperation, { name });

    expect(responseOf(await stream.end()).status?.code).toBe(Code.CANCELLED);
    expect(await worker.toldToCancel(work?.lease)).toBe(true);
    expect(responseOf(await farm.wait(name).end()).status?.code).toBe(Code.CANCELLED);
  });

  test("leaves the execution to the others who wait for it", async () => {
    const farm = await aServer();
    const worker = await fakeWorker(farm);
    const action = await farm.anAction("wanted");
    const [mine, theirs] = [farm.execute(action), farm.execute(action)];
    const { name } = await mine.next();
    await theirs.next();
    const work = await worker.begin();

    await farm.channel.unary(Operations.method.cancelOperation, { name });
    const told = await worker.toldToCancel(work?.lease);
    await work?.end(success);

    expect(responseOf(await mine.end()).status?.code).toBe(Code.CANCELLED);
    expect(told).toBe(false);
    expect(responseOf(await theirs.end())).toMatchObject({ result: { exitCode: 0 } });
    // A late cancellation changes nothing.
    const end = await farm.channel.unary(Operations.method.getOperation, { name });
    expect(responseOf(end).status?.code).toBe(Code.CANCELLED);
  });

  test("that is over changes nothing", async () => {
    const farm = await aServer();
    const worker = await fakeWorker(farm);
    const stream = farm.execute(await farm.anAction("done"));
    const { name } = await stream.next();
    await (await worker.begin())?.end(success);
    await stream.end();

    await farm.channel.unary(Operations.method.cancelOperation, { name });

    expect(responseOf(await farm.wait(name).end()).result?.exitCode).toBe(0);
  });
});

describe("a client that leaves", () => {
  test("has its operation cancelled after the grace, by any server", async () => {
    const farm = await aServer();
    const other = await aServer();
    const stream = farm.execute(await farm.anAction("left"));
    const { name } = await stream.next();
    await stream.leave();

    clock.pass(times.graceMs);
    const early = await other.operations.sweep();
    clock.pass(times.renewEveryMs + 1);
    const late = await other.operations.sweep();

    expect([early, late]).toEqual([0, 1]);
    expect(await liveExecutions()).toBe(0);
    expect(responseOf(await farm.wait(name).end()).status?.code).toBe(Code.CANCELLED);
  });

  test("and comes back in time finds its operation as it was", async () => {
    const farm = await aServer();
    const worker = await fakeWorker(farm);
    const stream = farm.execute(await farm.anAction("back"));
    const { name } = await stream.next();
    await stream.leave();
    clock.pass(times.graceMs + times.renewEveryMs - 1);

    const again = farm.wait(name);
    await again.next();
    clock.pass(times.graceMs);
    const swept = await farm.operations.sweep();
    await (await worker.begin())?.end(success);

    expect(swept).toBe(0);
    expect(responseOf(await again.end()).result?.exitCode).toBe(0);
  });

  test("keeps what somebody else still waits for", async () => {
    const farm = await aServer();
    const action = await farm.anAction("half left");
    const [gone, stays] = [farm.execute(action), farm.execute(action)];
    await gone.next();
    await stays.next();
    await gone.leave();

    clock.pass(times.graceMs + times.renewEveryMs + 1);

    // The other operation is watched on this server, although this was not recorded in the database lately.
    expect(await farm.operations.sweep()).toBe(1);
    expect(await liveExecutions()).toBe(1);
    await stays.leave();
  });

  test("has its grace also after a time without any server", async () => {
    const farm = await aServer();
    const stream = farm.execute(await farm.anAction("night"));
    const { name } = await stream.next();
    await farm.stop();
    clock.pass(24 * 3_600_000);
    opened = [];

    const next = await aServer();
    const swept = await next.operations.sweep();
    const again = next.wait(name);

    expect(swept).toBe(0);
    expect((await again.next()).done).toBe(false);
    await again.leave();
  });
});

describe("an invocation", () => {
  const said = {
    toolInvocationId: "inv-1",
    correlatedInvocationsId: "corr",
    toolDetails: { toolName: "bazel", toolVersion: "9" },
    targetId: "//a:b",
    actionMnemonic: "Genrule",
    configurationId: "k8",
  };

  test("is written down with what it asks for, and what the cache answered", async () => {
    const farm = await aServer();
    const worker = await fakeWorker(farm);
    const action = await farm.anAction("noted");
    const first = farm.execute(action, {}, said);
    await first.next();
    await (await worker.begin())?.end(success);
    await first.end();
    const again = farm.execute(action, {}, { ...said, toolInvocationId: "inv-2" });
    expect(responseOf(await again.end())).toMatchObject({ cachedResult: true });
    await farm.notes.flush();

    const Noted = z.object({ noted: z.string() });
    const rows = async (statement: ReturnType<typeof sql>) =>
      (await db.many(Noted, statement)).map(({ noted }) => noted);
    expect(
      await rows(sql`
        select concat_ws(' ', id, correlated_id, principal, tool_name, tool_version) as noted
        from invocation order by id`),
    ).toEqual(["inv-1 corr anyone bazel 9", "inv-2 corr anyone bazel 9"]);
    expect(
      await rows(sql`
        select concat_ws(' ', invocation, target_id, action_mnemonic, configuration_id, outcome)
          as noted from operation`),
    ).toEqual(["inv-1 //a:b Genrule k8 succeeded"]);
    expect(
      await rows(sql`
        select concat_ws(' ', invocation, hit::text, target_id) as noted
        from cache_lookup order by invocation`),
    ).toEqual(["inv-1 false //a:b", "inv-2 true //a:b"]);
  });

  test("may say nothing, or what is no text, and is served all the same", async () => {
    const farm = await aServer();
    const hostile = { toolInvocationId: `a\0${"x".repeat(5_000)}`, targetId: "\0" };
    for (const each of [{}, hostile]) {
      const stream = farm.execute(await farm.anAction(JSON.stringify(each)), {}, each);
      expect((await stream.next()).done).toBe(false);
      await stream.leave();
    }
    await farm.notes.flush();

    const Id = z.object({ id: z.string() });
    const ids = await db.many(Id, sql`select id from invocation`);
    expect(ids.map(({ id }) => id.length)).toEqual([256]);
  });

  test("that is cancelled ends what it waits for, and gets no more", async () => {
    const farm = await aServer();
    const other = await aServer();
    const shared = await farm.anAction("shared with others");
    const stream = farm.execute(await farm.anAction("its own"), {}, said);
    const sharing = farm.execute(shared, {}, said);
    const others = other.execute(shared, {}, { toolInvocationId: "inv-9" });
    for (const each of [stream, sharing, others]) await each.next();
    await farm.notes.flush();

    const which = { project: "default", invocation: "inv-1" };
    const by = { principal: "alice", now: clock.now() };
    const found = await cancelInvocation(db, farm.queue, which, by);
    const late = other.execute(await farm.anAction("late"), {}, said);

    expect(found).toBe(true);
    for (const each of [stream, sharing, late])
      expect(responseOf(await each.end()).status?.code).toBe(Code.CANCELLED);
    expect(await liveExecutions()).toBe(1);
    expect(await cancelInvocation(db, farm.queue, { ...which, invocation: "inv-2" }, by)).toBe(
      false,
    );
    await others.leave();
  });
});
