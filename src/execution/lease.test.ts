import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { freshDb } from "../../test/support/fresh-db.ts";
import { aRequest, aWorker, executionId, movableClock, never } from "./execution.fixture.ts";
import { openTestQueues } from "./execution-queue.fixture.ts";
import { readLog } from "./log.store.ts";
import { readAttempts } from "./read-executions.store.ts";

const db = await freshDb();
afterAll(() => db.close());
const queues = openTestQueues(db);
const { finished } = queues;
const open: typeof queues.open = (parts) => queues.open(parts);
beforeEach(() => db.script("truncate execution, worker cascade"));
afterEach(() => queues.closeAll());

describe("a lease", () => {
  test("lives by its heartbeats, and its execution is handed out anew when they stop", async () => {
    const clock = movableClock();
    const queue = await open({ clock });
    const [silentOne, other] = [aWorker("silent"), aWorker("other")];
    await queue.register(silentOne);
    await queue.register(other);
    await queue.submit(aRequest());
    const [held] = await queue.claim(silentOne, 1, 1_000, never);
    const lease = held?.lease ?? { executionId: executionId(), attempt: 0, epoch: 0 };

    clock.pass(queue.times.leaseMs - 1);
    await queue.heartbeat({ worker: silentOne, leases: [lease], draining: false });
    clock.pass(queue.times.leaseMs - 1);
    expect(await queue.rescue()).toBe(0);
    clock.pass(1);
    expect(await queue.rescue()).toBe(1);
    const [again] = await queue.claim(other, 1, 1_000, never);

    expect(again?.lease).toEqual({ ...lease, attempt: 2, epoch: 2 });
    expect(
      await queue.heartbeat({ worker: silentOne, leases: [lease], draining: false }),
    ).toMatchObject({ lost: [lease] });
    expect(
      await queue.finish({ lease, outcome: "succeeded", exitCode: 0, result: new Uint8Array() }),
    ).toBe("refused");
    expect(await queue.started(lease, clock.now())).toBe(false);
    expect(await queue.appendLog({ lease, offset: 0, bytes: new Uint8Array([1]) })).toBeUndefined();
    expect(
      await queue.finish({
        lease: again?.lease ?? lease,
        outcome: "succeeded",
        exitCode: 0,
        result: new Uint8Array(),
      }),
    ).toBe("accepted");
    expect(finished.map(({ attempt, worker }) => ({ attempt, worker }))).toEqual([
      { attempt: 2, worker: "other" },
    ]);
    expect(
      (await readAttempts(db, lease.executionId)).map(
        ({ outcome, worker }) => `${worker} ${outcome}`,
      ),
    ).toEqual(["silent worker_lost", "other succeeded"]);
  });

  test("is lost five times at most; then the execution ends as worker_lost", async () => {
    const clock = movableClock();
    const queue = await open({ clock });
    const worker = aWorker("w");
    await queue.register(worker);
    const { executionId: id } = await queue.submit(aRequest());
    const end = queue.waitForEnd(id, never);

    for (let attempt = 1; attempt <= 5; attempt++) {
      await queue.claim(worker, 1, 1_000, never);
      clock.pass(queue.times.leaseMs);
      await queue.rescue();
    }

    expect(await end).toMatchObject({ outcome: "worker_lost", attempt: 5 });
  });

  test("given back unbegun is no attempt", async () => {
    const queue = await open();
    const worker = aWorker("w");
    await queue.register(worker);
    await queue.submit(aRequest());

    for (let i = 1; i <= 7; i++) {
      const leased = await queue.claim(worker, 1, 1_000, never);
      expect(leased[0]?.lease).toMatchObject({ attempt: 1, epoch: i });
      await queue.release(leased.map(({ lease }) => lease));
    }
  });

  test("given back unbegun leaves no log to the next holder of the attempt", async () => {
    const queue = await open();
    const worker = aWorker("w");
    await queue.register(worker);
    await queue.submit(aRequest());
    const [first] = await queue.claim(worker, 1, 1_000, never);
    if (first === undefined) throw new Error("nothing was handed out");
    // It began, but the server was never told.
    await queue.appendLog({ lease: first.lease, offset: 0, bytes: Buffer.from("first") });
    await queue.release([first.lease]);
    const [second] = await queue.claim(worker, 1, 1_000, never);
    if (second === undefined) throw new Error("nothing was handed out");

    await queue.appendLog({ lease: second.lease, offset: 0, bytes: Buffer.from("second") });

    const log = await readLog(db, second.lease, 0, 100);
    expect(second.lease.attempt).toBe(first.lease.attempt);
    expect(new TextDecoder().decode(log?.bytes)).toBe("second");
  });

  test("is kept past the timeout while its worker uploads and beats, but not for ever", async () => {
    const clock = movableClock();
    const queue = await open({ clock });
    const worker = aWorker("w");
    await queue.register(worker);
    await queue.submit(aRequest({ timeoutMs: 60_000 }));
    const [held] = await queue.claim(worker, 1, 1_000, never);
    if (held === undefined) throw new Error("nothing was handed out");
    await queue.started(held.lease, clock.now());
    const beat = () => queue.heartbeat({ worker, leases: [held.lease], draining: false });

    clock.pass(60_000 + 29 * 60_000);
    await beat();
    expect(await queue.rescue()).toBe(0);
    clock.pass(60_000);
    await beat();
    expect(await queue.rescue()).toBe(1);
  });

  test("goes back when its worker starts anew", async () => {
    const queue = await open();
    await queue.register(aWorker("w"));
    const before = aWorker("w");
    await queue.register(before);
    await queue.submit(aRequest());
    await queue.claim(before, 1, 1_000, never);
    const after = aWorker("w");
    await queue.register(after);

    const [leased] = await queue.claim(after, 1, 1_000, never);
    expect(leased?.lease.attempt).toBe(2);
  });

  test("that was given back extends nothing, though the same attempt is held again", async () => {
    const clock = movableClock();
    const queue = await open({ clock });
    const worker = aWorker("w");
    await queue.register(worker);
    await queue.submit(aRequest());
    const before = await queue.claim(worker, 1, 1_000, never);
    const leases = before.map(({ lease }) => lease);
    await queue.release(leases);
    await queue.claim(worker, 1, 1_000, never);

    clock.pass(queue.times.leaseMs - 1);
    await queue.heartbeat({ worker, leases, draining: false });
    clock.pass(1);

    expect(await queue.rescue()).toBe(1);
  });
});
