import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aRequest, aWorker, executionId, movableClock, never } from "../execution.fixture.ts";
import { openTestQueues } from "../execution-queue.fixture.ts";
import { expiredLeases } from "../finishing/end-leases.store.ts";
import { settleLeases } from "../finishing/settle-leases.ts";
import { readLog } from "../logs/log.store.ts";
import { readAttempts, readExecutions } from "../read-executions.store.ts";
import { countFinished } from "./worker.store.ts";

const db = await freshDb();
afterAll(() => db.close());
const queues = openTestQueues(db);
const { finished } = queues;
const open: typeof queues.open = (parts) => queues.open(parts);
beforeEach(() => db.script("truncate execution, worker cascade"));
afterEach(() => queues.closeAll());

test("a heartbeat that waits for an execution does not delay the worker's report of its end", async () => {
  const queue = await open({ clock: movableClock() });
  const worker = aWorker("beats");
  await queue.register(worker);
  await queue.submit(aRequest());
  const [held] = await queue.claim(worker, 1, 1_000, never);
  const lease = held?.lease ?? { executionId: executionId(), attempt: 0, epoch: 0 };
  const Waiting = z.object({ waiting: z.number() });
  let beat: Promise<unknown> = Promise.resolve();

  await db.transaction(async (tx) => {
    await tx.run(sql`set local lock_timeout = '5s'`);
    await tx.run(sql`select id from execution where id = ${lease.executionId} for update`);
    beat = queue.heartbeat({ worker, leases: [lease], draining: false });
    await expect
      .poll(async () => {
        const [row] = await db.many(
          Waiting,
          sql`select count(*)::integer as waiting from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return row?.waiting;
      })
      .toBe(1);
    await countFinished(tx, new Map([[worker.name, 1]]));
  });

  expect(await beat).toMatchObject({ lost: [], isUnknown: false });
});

describe("an end that contains its start", () => {
  const at = async (startedAt: (leasedAt: Date, now: Date) => Date) => {
    const clock = movableClock();
    const queue = await open({ clock });
    const worker = aWorker("quick");
    await queue.register(worker);
    await queue.submit(aRequest());
    const [held] = await queue.claim(worker, 1, 1_000, never);
    const lease = held?.lease ?? { executionId: executionId(), attempt: 0, epoch: 0 };
    const leasedAt = clock.now();
    clock.pass(100);
    await queue.finish({
      lease,
      outcome: "succeeded",
      exitCode: 0,
      result: new Uint8Array(),
      startedAt: startedAt(leasedAt, clock.now()),
    });
    const [view] = await readExecutions(db, [lease.executionId]);
    const [attempt] = await readAttempts(db, lease.executionId);
    const sinceLease = (date: Date | null | undefined) =>
      date ? date.getTime() - leasedAt.getTime() : date;
    return [view?.finished?.startedAt, attempt?.startedAt, finished[0]?.startedAt].map(sinceLease);
  };

  test("is stored with it, and announced to all followers", async () => {
    expect(await at((leasedAt) => new Date(leasedAt.getTime() + 30))).toEqual([30, 30, 30]);
  });

  test("never has a start before the assignment or after the end, whatever the worker's clock", async () => {
    expect(await at(() => new Date(0))).toEqual([0, 0, 0]);
    await db.script("truncate execution, worker cascade");
    finished.length = 0;
    expect(await at((_, now) => new Date(now.getTime() + 9e9))).toEqual([100, 100, 100]);
  });
});

describe("a lease", () => {
  test("is extended and ended only by the process that holds it", async () => {
    const clock = movableClock();
    const queue = await open({ clock });
    const [holder, other] = [aWorker("holder"), aWorker("other")];
    await queue.register(holder);
    await queue.register(other);
    await queue.submit(aRequest());
    const [held] = await queue.claim(holder, 1, 1_000, never);
    const lease = held?.lease ?? { executionId: executionId(), attempt: 0, epoch: 0 };
    const leases = [lease];
    const done = { lease, outcome: "succeeded", exitCode: 0, result: new Uint8Array() } as const;
    clock.pass(queue.times.leaseMs - 1);

    // Sent together, so that one round processes both.
    const beats = await Promise.all([
      queue.heartbeat({ worker: other, leases, draining: false }),
      queue.heartbeat({ worker: holder, leases, draining: false }),
    ]);
    expect(beats.map(({ lost }) => lost)).toEqual([leases, []]);
    expect(await queue.finish({ ...done, by: other })).toBe("refused");
    clock.pass(queue.times.leaseMs - 1);
    await queue.heartbeat({ worker: other, leases, draining: false });
    clock.pass(1);
    expect(await queue.rescue()).toBe(1);

    const [again] = await queue.claim(holder, 1, 1_000, never);
    expect(await queue.finish({ ...done, lease: again?.lease ?? lease, by: holder })).toBe(
      "accepted",
    );
  });

  test("is kept by heartbeats, and its execution is assigned again when they stop", async () => {
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

  test("that was lost is ended by its late report if the execution was not assigned again", async () => {
    const clock = movableClock();
    const [queue, secondServer] = [await open({ clock }), await open({ clock })];
    const [worker, other] = [aWorker("away"), aWorker("other")];
    await queue.register(worker);
    await queue.register(other);
    const { executionId: id } = await queue.submit(aRequest());
    const [held] = await queue.claim(worker, 1, 1_000, never);
    const lease = held?.lease ?? { executionId: id, attempt: 0, epoch: 0 };
    const startedAt = clock.now();
    await queue.started(lease, startedAt);
    clock.pass(queue.times.leaseMs);
    expect(await queue.rescue()).toBe(1);
    const done = { lease, outcome: "succeeded", exitCode: 0, result: new Uint8Array([7]) } as const;

    // Not for a process that never had it or does not identify itself; nor under another epoch.
    expect(await queue.finish({ ...done, by: other })).toBe("refused");
    expect(await queue.finish(done)).toBe("refused");
    const otherEpoch = { ...lease, epoch: lease.epoch + 1 };
    expect(await queue.finish({ ...done, by: worker, lease: otherEpoch })).toBe("refused");
    // Two servers get it at the same time, as after a lost answer of the first.
    const verdicts = await Promise.all([
      queue.finish({ ...done, by: worker }),
      secondServer.finish({ ...done, by: worker }),
    ]);

    expect(verdicts.toSorted()).toEqual(["accepted", "refused"]);
    expect(finished).toMatchObject([{ id, attempt: 1, worker: "away", startedAt }]);
    expect(await readAttempts(db, id)).toMatchObject([{ attempt: 1, outcome: "succeeded" }]);
    expect(await queue.claim(other, 1, 0, never)).toEqual([]);
  });

  test("that was lost, and is reported while another server assigns its execution, ends in one of the two ways", async () => {
    const clock = movableClock();
    const [queue, secondServer] = [await open({ clock }), await open({ clock })];
    const [worker, other] = [aWorker("away"), aWorker("other")];
    await queue.register(worker);
    await queue.register(other);
    for (let round = 0; round < 20; round++) {
      finished.length = 0;
      const { executionId: id } = await queue.submit(aRequest());
      const [held] = await queue.claim(worker, 1, 1_000, never);
      const lease = held?.lease ?? { executionId: id, attempt: 0, epoch: 0 };
      clock.pass(queue.times.leaseMs);
      await queue.rescue();
      await queue.register(other);
      const done = { outcome: "succeeded", exitCode: 0, result: new Uint8Array() } as const;

      const [verdict, handedOut] = await Promise.all([
        queue.finish({ ...done, lease, by: worker }),
        secondServer.claim(other, 1, 0, never),
      ]);

      expect(handedOut).toHaveLength(verdict === "accepted" ? 0 : 1);
      for (const { lease: again } of handedOut)
        expect(await queue.finish({ ...done, lease: again, by: other })).toBe("accepted");
      expect(finished.map(({ attempt }) => attempt)).toEqual([verdict === "accepted" ? 1 : 2]);
    }
  });

  test("that was lost continues with a heartbeat that names it if the execution was not assigned again", async () => {
    const clock = movableClock();
    const progress: string[] = [];
    const hooks = {
      onProgress: async (_: unknown, some: readonly { kind: string }[]) => () =>
        void progress.push(...some.map(({ kind }) => kind)),
    };
    const queue = await open({ clock, hooks });
    const secondServer = await open({ clock });
    const [worker, other] = [aWorker("away"), aWorker("other")];
    await queue.register(worker);
    await queue.register(other);
    const { executionId: id } = await queue.submit(aRequest());
    const [held] = await queue.claim(worker, 1, 1_000, never);
    const lease = held?.lease ?? { executionId: id, attempt: 0, epoch: 0 };
    const leases = [lease];
    await queue.started(lease, clock.now());
    clock.pass(queue.times.leaseMs);
    await queue.rescue();

    // Both at once; another worker that names the lease does not get it.
    const [answer, foreign] = await Promise.all([
      secondServer.heartbeat({ worker, leases, draining: false }),
      queue.heartbeat({ worker: other, leases, draining: false }),
    ]);

    expect(answer.lost).toEqual([]);
    expect(foreign.lost).toEqual(leases);
    expect(await queue.claim(other, 1, 0, never)).toEqual([]);
    const [again] = await readExecutions(db, [id]);
    expect(again).toMatchObject({ attempt: 1, state: { kind: "leased", worker: "away" } });
    expect(await readAttempts(db, id)).toEqual([]);

    clock.pass(queue.times.leaseMs);
    await queue.rescue();
    await queue.heartbeat({ worker, leases, draining: false });
    expect(progress).toEqual(["started", "queued", "queued", "started"]);
    clock.pass(queue.times.leaseMs);
    await queue.rescue();
    await queue.register(other);
    expect(await queue.claim(other, 1, 1_000, never)).toHaveLength(1);
    expect((await queue.heartbeat({ worker, leases, draining: false })).lost).toEqual(leases);
  });

  test("that expires ends the waiting claims of its worker, at any server", async () => {
    const clock = movableClock();
    const [queue, secondServer] = [await open({ clock }), await open({ clock })];
    const [silent, other] = [aWorker("silent"), aWorker("other")];
    await queue.register(silent);
    await queue.register(other);
    await queue.submit(aRequest());
    const [held] = await queue.claim(silent, 1, 1_000, never);
    const waiting = [
      queue.claim(silent, 1, 60_000, never),
      secondServer.claim(silent, 1, 60_000, never),
    ];
    // Both wait as soon as later claims were checked.
    await Promise.all([queue.claim(other, 1, 0, never), secondServer.claim(other, 1, 0, never)]);
    clock.pass(queue.times.leaseMs);

    await queue.rescue();

    expect(await Promise.all(waiting)).toEqual([[], []]);
    const lease = held?.lease ?? { executionId: executionId(), attempt: 0, epoch: 0 };
    const beat = { worker: silent, leases: [lease], draining: false };
    expect((await queue.heartbeat(beat)).lost).toEqual([]);
  });

  test("of a restarted process is ended by the result that the earlier process had stored", async () => {
    const queue = await open();
    const [first, second] = [aWorker("again"), aWorker("again")];
    const done = { outcome: "succeeded", exitCode: 0, result: new Uint8Array() } as const;
    await queue.register(first);
    await queue.submit(aRequest());
    await queue.submit(aRequest());
    const held = await queue.claim(first, 2, 1_000, never);
    const [before, after] = held.map(({ lease }) => lease);
    if (before === undefined || after === undefined) throw new Error("two were to be handed out");

    expect(await queue.finish({ ...done, lease: before, by: second })).toBe("accepted");
    await queue.register(second);
    expect(await queue.finish({ ...done, lease: after, by: second })).toBe("accepted");

    expect(finished.map(({ attempt, worker }) => `${worker} ${attempt}`)).toEqual([
      "again 1",
      "again 1",
    ]);
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

  test("that is returned before the start is no attempt", async () => {
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

  test("that is returned before the start leaves no log to the next holder of the attempt", async () => {
    const queue = await open();
    const worker = aWorker("w");
    await queue.register(worker);
    await queue.submit(aRequest());
    const [first] = await queue.claim(worker, 1, 1_000, never);
    if (first === undefined) throw new Error("nothing was handed out");
    // It began, but the server never got the report.
    await queue.appendLog({ lease: first.lease, offset: 0, bytes: Buffer.from("first") });
    await queue.release([first.lease]);
    const [second] = await queue.claim(worker, 1, 1_000, never);
    if (second === undefined) throw new Error("nothing was handed out");

    await queue.appendLog({ lease: second.lease, offset: 0, bytes: Buffer.from("second") });

    const log = await readLog(db, second.lease, 0, 100);
    expect(second.lease.attempt).toBe(first.lease.attempt);
    expect(new TextDecoder().decode(log?.bytes)).toBe("second");
  });

  test("lasts longer than the timeout while its worker uploads and sends heartbeats, up to a limit", async () => {
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

  test("ends when its worker restarts, and the execution returns to the queue", async () => {
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

  test("that was returned extends nothing, even if the same attempt is assigned again", async () => {
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

describe("a long lease", () => {
  const requestedMs = 20 * 60_000;

  test("is as short as others until its worker confirms that it has the execution", async () => {
    // A machine that died while its claim waited: it never received the assigned execution.
    const clock = movableClock();
    const queue = await open({ clock });
    const far = aWorker("far", { leaseMs: requestedMs });
    expect(await queue.register(far)).toBe(requestedMs);
    await queue.submit(aRequest());
    await queue.claim(far, 1, 1_000, never);

    clock.pass(queue.times.leaseMs);

    expect(await queue.rescue()).toBe(1);
  });

  test("is long once the start is reported, before any heartbeat", async () => {
    const clock = movableClock();
    const queue = await open({ clock });
    const far = aWorker("far", { leaseMs: requestedMs });
    await queue.register(far);
    await queue.submit(aRequest());
    const [held] = await queue.claim(far, 1, 1_000, never);
    if (held === undefined) throw new Error("nothing was handed out");

    await queue.started(held.lease, clock.now());
    clock.pass(requestedMs - 1);

    expect(await queue.rescue()).toBe(0);
    clock.pass(1);
    expect(await queue.rescue()).toBe(1);
  });

  test("is extended by its own length, and leaves the leases of others short", async () => {
    const clock = movableClock();
    const queue = await open({ clock });
    const [far, near] = [aWorker("far", { leaseMs: requestedMs }), aWorker("near")];
    await queue.register(far);
    await queue.register(near);
    await queue.submit(aRequest());
    await queue.submit(aRequest());
    const [farHeld] = await queue.claim(far, 1, 1_000, never);
    const [nearHeld] = await queue.claim(near, 1, 1_000, never);
    const leasesOf = (held: typeof farHeld) => (held === undefined ? [] : [held.lease]);

    clock.pass(10_000);
    await Promise.all([
      queue.heartbeat({ worker: far, leases: leasesOf(farHeld), draining: false }),
      queue.heartbeat({ worker: near, leases: leasesOf(nearHeld), draining: false }),
    ]);
    clock.pass(queue.times.leaseMs);

    expect(await queue.rescue()).toBe(1);
    clock.pass(requestedMs - queue.times.leaseMs - 1);
    expect(await queue.rescue()).toBe(0);
    clock.pass(1);
    expect(await queue.rescue()).toBe(1);
  });

  test("is at most as long as the farm allows", async () => {
    const queue = await open();

    expect(await queue.register(aWorker("far", { leaseMs: 86_400_000 }))).toBe(
      queue.times.longestLeaseMs,
    );
  });
});

test("a lease whose time has passed is valid until it is ended", async () => {
  const clock = movableClock();
  const queue = await open({ clock });
  const away = aWorker("away");
  await queue.register(away);
  await queue.submit(aRequest());
  const [held] = await queue.claim(away, 1, 1_000, never);
  const lease = held?.lease ?? { executionId: executionId(), attempt: 0, epoch: 0 };

  clock.pass(10 * queue.times.leaseMs);
  const beat = await queue.heartbeat({ worker: away, leases: [lease], draining: false });
  const appended = await queue.appendLog({ lease, offset: 0, bytes: new Uint8Array([1]) });
  const rescued = await queue.rescue();
  clock.pass(10 * queue.times.leaseMs);
  const verdict = await queue.finish({ lease, outcome: "failed", exitCode: 1 });

  expect(beat.lost).toEqual([]);
  expect(appended).toEqual({ accepted: true, nextOffset: 1 });
  expect(rescued).toBe(0);
  expect(verdict).toBe("accepted");
});

test("a lease that is extended after it was found expired, and before it is ended, continues", async () => {
  // Given a lease whose time is over, and a rescuer that has just found it
  const clock = movableClock();
  const queue = await open({ clock });
  const worker = aWorker("w");
  await queue.register(worker);
  await queue.submit(aRequest());
  const [held] = await queue.claim(worker, 1, 1_000, never);
  if (held === undefined) throw new Error("nothing was handed out");
  clock.pass(queue.times.leaseMs);
  const now = clock.now();
  const found = await expiredLeases(db, now, 10);

  // When the worker's heartbeat arrives first
  const beat = await queue.heartbeat({ worker, leases: [held.lease], draining: false });
  const { verdicts } = await db.transaction((tx) =>
    settleLeases(
      tx,
      found.map((lease) => ({ lease, end: { kind: "expired" } })),
      { now, mostAttempts: 5, hooks: {} },
    ),
  );

  // Then the answer to the heartbeat is true
  expect(found).toEqual([held.lease]);
  expect(beat.lost).toEqual([]);
  expect(verdicts).toEqual(["refused"]);
  expect(await queue.finish({ lease: held.lease, outcome: "failed", exitCode: 1 })).toBe(
    "accepted",
  );
});

test.each([
  { clocks: "an hour fast", at: (now: number) => new Date(now + 3_600_000) },
  { clocks: "in the last year that there is", at: () => new Date("9999-12-31T23:59:59Z") },
])(
  "the stored start is not later than its report by a worker whose clock is $clocks",
  async ({ at }) => {
    const clock = movableClock();
    const queue = await open({ clock });
    const worker = aWorker("w");
    await queue.register(worker);
    await queue.submit(aRequest());
    const [held] = await queue.claim(worker, 1, 1_000, never);
    if (held === undefined) throw new Error("nothing was handed out");
    clock.pass(1_000);

    expect(await queue.started(held.lease, at(clock.now().getTime()))).toBe(true);

    const [view] = await readExecutions(db, [held.lease.executionId]);
    expect(view?.state).toMatchObject({ kind: "leased", startedAt: clock.now() });
  },
);
