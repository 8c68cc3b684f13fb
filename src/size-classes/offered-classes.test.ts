import { afterAll, beforeEach, expect, test } from "vitest";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { addDrain } from "#execution/claiming/drain.store.ts";
import { preferIndexes } from "#execution/claiming/prefer-indexes.store.ts";
import { aRequest, aWorker, movableClock, never, silent } from "#execution/execution.fixture.ts";
import { openTestQueues } from "#execution/execution-queue.fixture.ts";
import { queuedWork, workersUp } from "#execution/sizing/size-class-offers.store.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { declareClass, undeclareClass } from "./declared-classes.store.ts";
import { offeredClasses } from "./offered-classes.ts";
import { aDeclaredClass, linux } from "./size-classes.fixture.ts";

const db = await freshDb();
const queues = openTestQueues(db);
afterAll(async () => {
  await queues.closeAll();
  await db.close();
});
beforeEach(() => db.script("truncate execution, worker cascade; truncate drain, size_class"));

test("the work of workers and the waiting executions are read by platform and size class", async () => {
  // Given a worker of two slots that has run one execution for 4 s of expected 10, and an idle one of class 2
  const clock = movableClock();
  const queue = await queues.open({ clock });
  const worker = aWorker("a", { slots: 2 });
  await queue.register(worker);
  await queue.register(aWorker("b", { sizeClass: 2 }));
  await queue.register(aWorker("drained", { sizeClass: 2 }));
  await addDrain(db, { pattern: "dr*", reason: "", createdBy: "ada", createdAt: new Date() });
  await db.run(sql`update worker set cpus = 1.5, memory_bytes = 1000 where name = 'a'`);
  await queue.submit(aRequest({ expectedDurationMs: 10_000 }));
  const [held] = await queue.claim(worker, 1, 5_000, never);
  if (held === undefined) throw new Error("nothing was handed out");
  await queue.started(held.lease, clock.now());
  clock.pass(4_000);
  await queue.submit(aRequest({ sizeClass: 3, expectedDurationMs: 7_000 }));
  await queue.submit(aRequest({ sizeClass: 3 }));

  // When
  const up = await workersUp(db, clock.now(), new Date(0));
  const waiting = await queuedWork(db);

  // Then
  expect(up).toMatchObject([
    {
      sizeClass: 1,
      workers: 1,
      slots: 2,
      busySlots: 1,
      remainingMs: 6_000,
      cpus: 1.5,
      memoryBytes: 1_000,
    },
    {
      sizeClass: 2,
      workers: 1,
      slots: 1,
      busySlots: 0,
      remainingMs: 0,
      cpus: null,
      memoryBytes: null,
    },
  ]);
  expect(waiting).toEqual([
    { requirements: linux, sizeClass: 3, executions: 2, foreseen: 1, foreseenMs: 7_000 },
  ]);
});

test("a declared class exists until its declaration is removed", async () => {
  const clock = movableClock();
  const offers = offeredClasses({ db, clock, logger: silent });
  await declareClass(db, aDeclaredClass({ sizeClass: 2, platform: { OSFamily: "Linux" } }));
  await offers.refresh();
  const before = offers.for(linux);

  const removed = await undeclareClass(db, linux, 2);
  await offers.refresh();

  expect(before.map(({ sizeClass }) => sizeClass)).toEqual([2]);
  expect(removed).toBe(true);
  expect(await undeclareClass(db, linux, 2)).toBe(false);
  expect(offers.for(linux)).toEqual([]);
  await offers.stop();
});

test("while it is called, changes are noticed; simultaneous callers share one read", async () => {
  let looks = 0;
  const counting: Db = { ...db, transaction: (work) => (looks++, db.transaction(work)) };
  const offers = offeredClasses({
    db: counting,
    clock: movableClock(),
    logger: silent,
    everyMs: 5,
  });

  expect(offers.for(linux)).toEqual([]);
  // One read is in progress, and a caller that requests one meanwhile gets a later one.
  await Promise.all([offers.refresh(), offers.refresh(), offers.freshen()]);
  const looksAtFirst = looks;
  await declareClass(db, aDeclaredClass());

  await expect.poll(() => offers.for(linux)).toHaveLength(1);
  expect(looksAtFirst).toBe(2);
  await offers.stop();
  const looksAtLast = looks;
  await offers.refresh();
  expect(looks).toBe(looksAtLast);
});

test("when the database fails, the last facts stay, and this is logged once", async () => {
  await declareClass(db, aDeclaredClass());
  let isBroken = false;
  const breakable: Db = {
    ...db,
    transaction: (work) => (isBroken ? Promise.reject(new Error("gone")) : db.transaction(work)),
  };
  const said: unknown[] = [];
  const logger = silent.child({});
  logger.warn = ((detail: unknown) => void said.push(detail)) as typeof logger.warn;
  const offers = offeredClasses({ db: breakable, clock: movableClock(), logger });
  await offers.refresh();

  isBroken = true;
  await offers.refresh();
  await offers.refresh();

  expect(offers.for(linux)).toHaveLength(1);
  expect(said).toEqual([{ reason: "gone" }]);
  await offers.stop();
});

test("a hundred thousand waiting executions are not all read", async () => {
  await db.run(sql`
    insert into execution (
      id, project, domain, action_digest, requirements, size_class, invocation, lane, owner_lane, place,
      priority, timeout_ms, expected_duration_ms, do_not_cache, queued_at)
    select gen_random_uuid(), 'p', 'protected', nth::text, ${JSON.stringify(linux)}, 1 + nth % 2, 'i',
      nth % 100, 0, nth, 0, 60000, 1000, false, now()
    from generate_series(1, 100000) as nth
  `);

  const waiting = await db.transaction(async (tx) => {
    await preferIndexes(tx);
    return queuedWork(tx);
  });

  expect(waiting.map(({ sizeClass, executions }) => [sizeClass, executions])).toEqual([
    [1, 10_000],
    [2, 10_000],
  ]);
});
