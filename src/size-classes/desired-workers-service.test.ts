import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { addDrain } from "#execution/claiming/drain.store.ts";
import { preferIndexes } from "#execution/claiming/prefer-indexes.store.ts";
import { aRequest, aWorker, movableClock, never } from "#execution/execution.fixture.ts";
import { openTestQueues } from "#execution/execution-queue.fixture.ts";
import { queuedDemand, workerLoads } from "#execution/sizing/size-class-demand.store.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { declareClass } from "./declared-classes.store.ts";
import { desiredWorkersService } from "./desired-workers-service.ts";
import { aDeclaredClass, linux } from "./size-classes.fixture.ts";

const db = await freshDb();
const queues = openTestQueues(db);
afterAll(async () => {
  await queues.closeAll();
  await db.close();
});
beforeEach(() => db.script("truncate execution, worker cascade; truncate drain, size_class"));

const settings = { targetWaitMs: 60_000, startDelayMs: 60_000, scaleDownMs: 300_000 };

test("waiting executions are read by kind, urgency and length", async () => {
  const clock = movableClock();
  const queue = await queues.open({ clock });
  for (let i = 0; i < 3; i++) await queue.submit(aRequest({ expectedDurationMs: 2_000 + i }));
  await queue.submit(aRequest({ expectedDurationMs: 400_000 }));
  await queue.submit(aRequest({ expectedDurationMs: 2_000, priority: 20 }));
  await queue.submit(aRequest());
  clock.pass(20_000);

  const found = await queuedDemand(db, clock.now());

  const rows = found.map(({ executions, dueInMs, eachMs }) => [executions, dueInMs, eachMs]);
  expect(
    rows.toSorted((a, b) => Number(a[1]) - Number(b[1]) || Number(a[2]) - Number(b[2])),
  ).toEqual([
    [1, -20_000, null],
    [3, -20_000, 2_001],
    [1, -20_000, 400_000],
    [1, 180_000, 2_000],
  ]);
});

test("each worker is read with its executions, and their remaining time", async () => {
  const clock = movableClock();
  const queue = await queues.open({ clock });
  const worker = aWorker("a", { slots: 3 });
  await queue.register(worker);
  for (const expectedDurationMs of [10_000, 1_000])
    await queue.submit(aRequest({ expectedDurationMs }));
  await queue.submit(aRequest());
  const held = await queue.claim(worker, 3, 5_000, never);
  await Promise.all(held.map(({ lease }) => queue.started(lease, clock.now())));
  clock.pass(4_000);
  await addDrain(db, { pattern: "a", reason: "", createdBy: "ada", createdAt: clock.now() });

  const loads = await workerLoads(db, clock.now(), new Date(0), 7_000);

  // One has 6 s left of ten, one is late by 3 s, and one is unknown.
  expect(loads).toMatchObject([
    {
      name: "a",
      condition: "draining",
      held: 3,
      remainingMs: 6_000 + 3_000 + 7_000,
      foreseen: 2,
      foreseenMs: 11_000,
    },
  ]);
});

test("from zero: executions that wait for a declared class request workers; simultaneous callers share a look", async () => {
  const clock = movableClock();
  const queue = await queues.open({ clock });
  const service = desiredWorkersService({ db, clock, leaseMs: 15_000, settings });
  await declareClass(db, aDeclaredClass({ sizeClass: 2, mostWorkers: 3 }));
  const [before, same] = await Promise.all([service.look(), service.look()]);
  for (let i = 0; i < 5; i++) await queue.submit(aRequest({ expectedDurationMs: 300_000 }));

  service.forget();
  const after = await service.look();

  expect(same).toBe(before);
  expect(before.classes).toMatchObject([{ sizeClass: 2, desired: 0, now: 0, queued: 0 }]);
  expect(after.classes).toMatchObject([{ sizeClass: 2, desired: 3, now: 0, queued: 5 }]);
});

test("silent workers leave the figures even without another event", async () => {
  const clock = movableClock();
  const queue = await queues.open({ clock });
  const service = desiredWorkersService({ db, clock, leaseMs: 15_000, settings });
  await queue.register(aWorker("a"));
  const before = await service.look();

  clock.pass(20_000);
  service.forget();
  const after = await service.look();

  expect(before.classes).toMatchObject([{ now: 1, slots: 1 }]);
  expect(after.classes).toEqual([]);
});

test("a failed look is not cached", async () => {
  let isBroken = true;
  const breakable: typeof db = {
    ...db,
    transaction: (work) => (isBroken ? Promise.reject(new Error("gone")) : db.transaction(work)),
  };
  const service = desiredWorkersService({
    db: breakable,
    clock: movableClock(),
    leaseMs: 15_000,
    settings,
  });
  await expect(service.look()).rejects.toThrow("gone");

  isBroken = false;

  expect((await service.look()).classes).toEqual([]);
});

test("a hundred thousand waiting executions give a few rows", async () => {
  const clock = movableClock();
  await db.run(sql`
    insert into execution (
      id, project, domain, action_digest, requirements, size_class, invocation, lane, owner_lane, place,
      priority, timeout_ms, expected_duration_ms, do_not_cache, queued_at)
    select gen_random_uuid(), 'p', 'protected', nth::text, ${JSON.stringify(linux)}, 1 + nth % 2, 'i',
      nth % 100, 0, nth, nth % 3, 60000, 10 * nth, false, ${clock.now()}
    from generate_series(1, 100000) as nth
  `);

  // The statement's plan without statistics, as on a farm that was idle until now.
  const plan: string[] = [];
  const found = await db.transaction(async (tx) => {
    await preferIndexes(tx);
    const explaining: typeof tx = {
      ...tx,
      async many(row, { text, values }) {
        const lines = await tx.many(z.object({ "QUERY PLAN": z.string() }), {
          text: `explain (analyze, timing off) ${text}`,
          values,
        });
        plan.push(...lines.map((line) => line["QUERY PLAN"]));
        return tx.many(row, { text, values });
      },
    };
    return queuedDemand(explaining, clock.now());
  });

  expect(found.reduce((sum, { executions }) => sum + executions, 0)).toBeCloseTo(100_000, -2);
  expect(found.length).toBeLessThan(50);
  // Each waiting row is counted once, in the index, and 20,000 are read.
  const fetches = plan.flatMap((line) => /Heap Fetches: (\d+)/.exec(line)?.[1] ?? []).map(Number);
  expect(Math.max(...fetches)).toBeLessThanOrEqual(100_000);
});
