import fc from "fast-check";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { type Platform, serves } from "#core/platform.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { claimCandidates } from "./claiming/claim-executions.store.ts";
import { actionDigest, aRequest, aWorker, movableClock, never } from "./execution.fixture.ts";
import { openTestQueues } from "./execution-queue.fixture.ts";
import { forgetWorkers, listWorkers } from "./leasing/worker.store.ts";
import { appendLogChunk, dropLogs, readLog } from "./logs/log.store.ts";
import { deleteOldExecutions } from "./retention.store.ts";
import { submitExecutions } from "./submitting/submit-executions.store.ts";

const db = await freshDb();
afterAll(() => db.close());
const queues = openTestQueues(db);
beforeEach(() => db.script("truncate execution, worker cascade"));
afterEach(() => queues.closeAll());

async function leased() {
  const clock = movableClock();
  const queue = await queues.open({ clock });
  const worker = aWorker("w");
  await queue.register(worker);
  await queue.submit(aRequest());
  const [held] = await queue.claim(worker, 1, 5_000, never);
  if (held === undefined) throw new Error("nothing was handed out");
  return {
    queue,
    worker,
    clock,
    lease: held.lease,
    log: { executionId: held.lease.executionId, attempt: 1 },
  };
}

const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
const bytes = (of: string) => new TextEncoder().encode(of);

test("a log is read from any offset while it grows, and its end is marked", async () => {
  const { queue, lease, log } = await leased();

  expect(await queue.appendLog({ lease, offset: 0, bytes: bytes("hello ") })).toEqual({
    nextOffset: 6,
    accepted: true,
  });
  expect(await queue.appendLog({ lease, offset: 0, bytes: bytes("hello world") })).toEqual({
    nextOffset: 11,
    accepted: true,
  });
  expect(await queue.appendLog({ lease, offset: 20, bytes: bytes("!") })).toEqual({
    nextOffset: 11,
    accepted: false,
  });
  const part = await readLog(db, log, 4, 5);
  expect({ text: text(part?.bytes), nextOffset: part?.nextOffset, isOver: part?.isOver }).toEqual({
    text: "o wor",
    nextOffset: 9,
    isOver: false,
  });
  await queue.finish({ lease, outcome: "failed", exitCode: 1 });
  expect(await readLog(db, log, 11, 100)).toMatchObject({ nextOffset: 11, isOver: true });

  await dropLogs(db, [lease.executionId]);
  expect(text((await readLog(db, log, 0, 100))?.bytes)).toBe("");
});

test("a read of very many small chunks says that there may be more", async () => {
  const { lease, log } = await leased();
  for (let offset = 0; offset < 300; offset++)
    await db.transaction((tx) => appendLogChunk(tx, { lease, offset, bytes: bytes("x") }));

  const first = await readLog(db, log, 0, 1_000);
  const second = await readLog(db, log, first?.nextOffset ?? 0, 1_000);

  expect(first).toMatchObject({ nextOffset: 256, mayHaveMore: true });
  expect(second).toMatchObject({ nextOffset: 300, mayHaveMore: false });
});

test("chunks that are sent twice at once are stored once", async () => {
  const { lease, log } = await leased();
  const whole = "0123456789".repeat(50);

  await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      db.transaction((tx) =>
        appendLogChunk(tx, {
          lease,
          offset: 0,
          bytes: bytes(whole.slice(0, 1 + ((i * 37) % 500))),
        }),
      ),
    ),
  );

  const read = text((await readLog(db, log, 0, 1_000))?.bytes);
  expect(read).toBe(whole.slice(0, read.length));
  expect(read).toHaveLength(500);
});

test("a log that exceeds its limit is cut with a note", async () => {
  const { lease, log } = await leased();

  await db.transaction((tx) =>
    appendLogChunk(tx, { lease, offset: 0, bytes: bytes("x".repeat(30)) }, 20),
  );
  const more = await db.transaction((tx) =>
    appendLogChunk(tx, { lease, offset: 30, bytes: bytes("y") }, 20),
  );

  expect(more).toEqual({ nextOffset: 31, accepted: true });
  expect(text((await readLog(db, log, 0, 1_000))?.bytes)).toMatch(
    /^x{20}\n\[the log is cut here: it is longer than 20 bytes\]\n$/,
  );
});

test("a worker gets exactly the executions that src/core/platform.ts allows", async () => {
  const property = fc.constantFrom("OSFamily", "ISA", "gpu", "network", "cpus", 'we"ird\\n\u2028');
  const platform: fc.Arbitrary<Platform> = fc.dictionary(
    property,
    fc.constantFrom("a", "b", "", "ü\n"),
    { maxKeys: 4, noNullPrototype: true },
  );
  await fc.assert(
    fc.asyncProperty(
      platform,
      fc.array(platform, { minLength: 1, maxLength: 8 }),
      async (offered, asked) => {
        await db.script("truncate execution cascade");
        const requests = asked.map((each) => aRequest({ platform: each }));
        await db.transaction((tx) => submitExecutions(tx, requests, new Date()));

        const found = await claimCandidates(db, { platform: offered, sizeClass: 1 }, 100, 0);

        const expected = requests.filter((request) => serves(offered, request.platform));
        expect(found.map(({ id }) => id).toSorted()).toEqual(
          expected.map(({ id }) => id).toSorted(),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test("one execution does not wait for the thousand executions of another invocation", async () => {
  const queue = await queues.open();
  const worker = aWorker("w");
  await queue.register(worker);
  const crowd = Array.from({ length: 1_000 }, () => aRequest({ invocation: "crowd" }));
  const fiveMinutesBefore = new Date(movableClock().now().getTime() - 300_000);
  await queue.transaction((tx) => submitExecutions(tx, crowd, fiveMinutesBefore));
  const late = aRequest({ invocation: "late" });
  await queue.submit(late);

  const handedOut = await queue.claim(worker, 2, 5_000, never);

  expect(handedOut.map(({ lease }) => lease.executionId)).toContain(late.id);
});

test("a request with a higher priority that joins an execution moves it forward", async () => {
  const queue = await queues.open();
  const worker = aWorker("w");
  await queue.register(worker);
  const slow = aRequest({ priority: 50, actionDigest: actionDigest("wanted") });
  await queue.submit(slow);
  await queue.submit(aRequest());
  await queue.submit(aRequest({ priority: -50, actionDigest: actionDigest("wanted") }));

  const [first] = await queue.claim(worker, 1, 5_000, never);

  expect(first?.lease.executionId).toBe(slow.id);
});

test("workers are listed with their running and finished executions, and removed long after their last heartbeat", async () => {
  const { queue, worker, clock, lease } = await leased();
  await queue.started(lease, clock.now());

  expect(await listWorkers(db)).toMatchObject([
    {
      name: "w",
      draining: false,
      running: [{ executionId: lease.executionId, since: clock.now() }],
    },
  ]);
  await queue.finish({ lease, outcome: "failed", exitCode: 1 });
  await queue.heartbeat({ worker, leases: [], draining: true });
  expect(await listWorkers(db)).toMatchObject([{ draining: true, running: [], finishedCount: 1 }]);
  clock.pass(1);
  expect(await forgetWorkers(db, clock.now())).toBe(1);
});

test("a worker that must still end a lost execution is marked until it has ended it", async () => {
  const { queue, worker, lease } = await leased();
  const foreign = { ...lease, epoch: lease.epoch + 1 };
  const ending = async () => (await listWorkers(db)).map(({ endingCount }) => endingCount);

  await queue.heartbeat({ worker, leases: [lease], draining: false });
  expect(await ending()).toEqual([0]);
  const { lost } = await queue.heartbeat({ worker, leases: [lease, foreign], draining: false });
  expect(lost).toEqual([foreign]);
  expect(await ending()).toEqual([1]);
  await queue.heartbeat({ worker, leases: [lease], draining: false });
  expect(await ending()).toEqual([0]);
});

test("old executions are deleted with all their dependent rows, in batches", async () => {
  const { queue, lease, clock } = await leased();
  await queue.appendLog({ lease, offset: 0, bytes: bytes("x") });
  await queue.finish({ lease, outcome: "failed", exitCode: 1 });
  await queue.submit(aRequest());

  expect(await deleteOldExecutions(db, clock.now())).toBe(0);
  clock.pass(1);
  expect(await deleteOldExecutions(db, clock.now())).toBe(1);
  expect(await deleteOldExecutions(db, clock.now())).toBe(0);
});
