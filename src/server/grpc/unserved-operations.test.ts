import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { sql } from "#db/sql.ts";
import { aRequest, movableClock } from "#execution/execution.fixture.ts";
import { readExecutions } from "#execution/read-executions.store.ts";
import { endUnserved } from "#invocations/end-unserved.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { declareClass } from "#size-classes/declared-classes.store.ts";
import { declaredOffers } from "#size-classes/declared-classes.ts";
import { aDeclaredClass } from "#size-classes/size-classes.fixture.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { fakeWorker, type Rev2Server, responseOf, rev2Server } from "./rev2-farm.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

const unservedMs = 15 * 60_000;
/** Clients of these tests connect and disconnect; none of them counts as gone. */
const times = { graceMs: 86_400_000, renewEveryMs: 3_600_000 };
let clock = movableClock();
let blobs = memoryBlobStore();
let opened: Rev2Server[] = [];
let openSince = new Date();

async function aServer() {
  const server = await rev2Server({ db, clock, blobs, times });
  opened.push(server);
  return server;
}

beforeEach(async () => {
  clock = movableClock();
  blobs = memoryBlobStore();
  openSince = clock.now();
  await db.script("truncate execution, worker, operation, invocation cascade");
});
afterEach(async () => {
  for (const server of opened) await server.stop();
  opened = [];
});

const sweep = ({ queue }: Rev2Server) =>
  endUnserved(db, queue, { now: clock.now(), openSince, unservedMs });
const gpu = { platform: { properties: [{ name: "gpu", value: "a100" }] } };

/** The worker was seen a moment ago, as by its heartbeats. */
const seen = () => db.run(sql`update worker set last_seen_at = ${clock.now()}`);

test("a client is told when nobody could ever serve it, wherever it listens", async () => {
  const first = await aServer();
  const second = await aServer();
  await fakeWorker(first);
  const here = first.execute(await first.anAction("impossible", gpu));
  const { name } = await here.next();
  const there = second.wait(name);
  await there.next();

  clock.pass(unservedMs + 1);
  await seen();
  expect(await sweep(second)).toBe(1);

  const ends = [await here.end(), await there.end(), await first.wait(name).end()];
  for (const end of ends) {
    const { status } = responseOf(end);
    expect(status?.code).toBe(Code.FAILED_PRECONDITION);
    expect(status?.details).toEqual([]);
    expect(status?.message).toContain(
      "no worker of this farm could run it for 15 min: it asks for gpu=a100, and no worker offers gpu",
    );
  }
  expect(await sweep(first)).toBe(0);
});

test("nobody is told who waits for a worker that is busy, or was there a while ago", async () => {
  const farm = await aServer();
  await fakeWorker(farm);
  const stream = farm.execute(await farm.anAction("possible"));
  await stream.next();

  clock.pass(unservedMs + 1);
  await seen();
  expect(await sweep(farm)).toBe(0);
  clock.pass(unservedMs - 1_000);
  expect(await sweep(farm)).toBe(0);
  // And no client has reconnected.
  clock.pass(2_000);
  expect(await sweep(farm)).toBe(1);

  expect(responseOf(await stream.end()).status?.message).toContain("no worker is connected");
});

test("a farm may be more impatient; a worker that was there a while ago is still waited for", async () => {
  const farm = await aServer();
  await fakeWorker(farm);
  const impatient = () =>
    endUnserved(db, farm.queue, { now: clock.now(), openSince, unservedMs: 20_000 });
  const never = farm.execute(await farm.anAction("impossible", gpu));
  const away = farm.execute(await farm.anAction("possible"));
  await never.next();
  await away.next();

  clock.pass(19_000);
  expect(await impatient()).toBe(0);
  clock.pass(2_000);
  expect(await impatient()).toBe(1);

  const { status } = responseOf(await never.end());
  expect(status?.code).toBe(Code.FAILED_PRECONDITION);
  expect(status?.message).toContain(
    "no worker of this farm could run it for 20 s: it asks for gpu",
  );
  clock.pass(unservedMs);
  expect(await impatient()).toBe(1);
  await away.end();
});

test("nobody is told who waits for a worker of a class that is declared and may be started", async () => {
  const farm = await aServer();
  await declareClass(db, aDeclaredClass({ platform: { gpu: "a100" }, mostWorkers: 3 }));
  const stream = farm.execute(await farm.anAction("possible one day", gpu));
  await stream.next();
  clock.pass(unservedMs + 1);
  const sweepWithDeclared = async () =>
    endUnserved(db, farm.queue, {
      now: clock.now(),
      openSince,
      unservedMs,
      declared: await declaredOffers(db),
    });

  expect(await sweepWithDeclared()).toBe(0);

  await declareClass(db, aDeclaredClass({ platform: { gpu: "a100" }, mostWorkers: 0 }));
  expect(await sweepWithDeclared()).toBe(1);
  expect(responseOf(await stream.end()).status?.code).toBe(Code.FAILED_PRECONDITION);
});

test("each client has its time, also when it joins what others asked for long ago", async () => {
  const farm = await aServer();
  const action = await farm.anAction("impossible", gpu);
  const early = farm.execute(action);
  await early.next();
  clock.pass(unservedMs + 1);
  const late = farm.execute(action);
  const { name } = await late.next();

  expect(await sweep(farm)).toBe(1);

  expect(responseOf(await early.end()).status?.code).toBe(Code.FAILED_PRECONDITION);
  expect((await farm.wait(name).next()).done).toBe(false);
  await late.leave();
});

test("after a time without servers, workers have the whole time to come back", async () => {
  const farm = await aServer();
  const stream = farm.execute(await farm.anAction("impossible", gpu));
  await stream.next();
  clock.pass(unservedMs + 1);
  openSince = clock.now();

  expect(await sweep(farm)).toBe(0);
  clock.pass(unservedMs);
  expect(await sweep(farm)).toBe(1);
  await stream.end();
});

test("what nobody waits for through an operation goes on waiting", async () => {
  const farm = await aServer();
  const id = (await farm.queue.submit(aRequest({ platform: { gpu: randomUUID() } }))).executionId;
  clock.pass(unservedMs + 1);

  expect(await sweep(farm)).toBe(0);

  const [view] = await readExecutions(db, [id]);
  expect(view?.state.kind).toBe("queued");
});
