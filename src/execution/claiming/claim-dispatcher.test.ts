import { afterAll, beforeEach, expect, test } from "vitest";
import type { Db } from "#db/db.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aRequest, aWorker, movableClock, never, silent } from "../execution.fixture.ts";
import { cancelQueued } from "../finishing/cancel-executions.store.ts";
import { registerWorkers } from "../leasing/worker.store.ts";
import { submitExecutions } from "../submitting/submit-executions.store.ts";
import { claimDispatcher } from "./claim-dispatcher.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.script("truncate execution, worker cascade"));

test("a wake-up between the query of a transaction and its commit is not lost", async () => {
  // Given a claim that waits, and a transaction that has looked for it but not committed yet
  const paced = pacedDb(db);
  const service = aService(paced.db);
  const worker = aWorker("w");
  await registerWorkers(db, [worker], new Date());
  const claim = service.claim({
    worker: { ...worker, draining: false },
    most: 1,
    waitMs: 5_000,
    signal: never,
  });
  await paced.untilIdle();
  const commit = paced.holdNext();
  const transaction = service.transaction(async () => {});
  await commit.reached;

  // When another transaction commits work and wakes the dispatcher
  await submitExecutions(db, [aRequest()], new Date());
  service.wake();
  await new Promise((resolve) => setImmediate(resolve));
  commit.letGo();
  await transaction;

  // Then the claim gets it
  expect(await claim).toHaveLength(1);
  await service.stop();
});

test("a dispatcher whose claims found nothing sends no further queries", async () => {
  const paced = pacedDb(db);
  const service = aService(paced.db);
  const worker = aWorker("w");
  const leaving = new AbortController();
  await registerWorkers(db, [worker], new Date());
  const claim = service.claim({
    worker: { ...worker, draining: false },
    most: 1,
    waitMs: 60_000,
    signal: leaving.signal,
  });
  await paced.untilIdle();
  const commit = paced.holdNext();
  const transaction = service.transaction(async () => {});
  await commit.reached;
  service.wake();
  await new Promise((resolve) => setImmediate(resolve));
  commit.letGo();
  await transaction;

  for (let i = 0; i < 10; i++) await paced.untilIdle();

  // The claim's own query, the transaction, and the deferred query.
  expect(paced.begun()).toBe(3);
  leaving.abort();
  expect(await claim).toEqual([]);
  await service.stop();
});

test("after a claim found nothing, an equal claim queries the database only when something changed", async () => {
  // Given a dispatcher at which a claim found nothing
  const paced = pacedDb(db);
  const service = aService(paced.db);
  const { claim, leave } = await claimant(service, "w");
  const first = claim();
  await paced.untilIdle();
  expect(paced.begun()).toBe(1);

  // When another claim of the same kind arrives, and an execution ends without queuing anything
  const { claim: claimToo } = await claimant(service, "v");
  const second = claimToo();
  await service.transaction(async () => {});
  await paced.untilIdle();

  // Then neither claim has queried; after a notification from another server, both do
  expect(paced.begun()).toBe(2);
  await submitExecutions(db, [aRequest(), aRequest()], new Date());
  service.wake("another");
  expect(await first).toHaveLength(1);
  expect(await second).toHaveLength(1);
  leave();
  await service.stop();
});

test("an execution that is submitted while no worker waits is found by the next claim", async () => {
  const paced = pacedDb(db);
  const service = aService(paced.db);
  const { claim, leave } = await claimant(service, "w");
  const first = claim();
  await paced.untilIdle();
  leave();
  expect(await first).toEqual([]);

  await service.transaction((tx) => submitExecutions(tx, [aRequest()], new Date()));
  await submitExecutions(db, [aRequest()], new Date());
  service.wake("another");

  const { claim: claimOne } = await claimant(service, "w");
  expect(await claimOne()).toHaveLength(1);
  expect(await claimOne()).toHaveLength(1);
  await service.stop();
});

test("executions that a transaction submits after its query are assigned in the same transaction", async () => {
  const paced = pacedDb(db);
  const service = aService(paced.db);
  const { claim } = await claimant(service, "w");
  const waiting = claim(2);
  await paced.untilIdle();

  await service.transaction(async (tx) => {
    await submitExecutions(tx, [aRequest()], new Date());
    service.lookEarly(tx)();
    await submitExecutions(tx, [aRequest()], new Date());
  });

  expect(await waiting).toHaveLength(2);
  expect(paced.begun()).toBe(2);
  await service.stop();
});

test("an execution that is submitted before a query, and announced after it, is assigned by this query", async () => {
  const paced = pacedDb(db);
  const service = aService(paced.db);
  const { claim } = await claimant(service, "w");
  const waiting = claim();
  await paced.untilIdle();
  let looks = 0;

  await service.transaction(async (tx) => {
    let confirmLook = () => {};
    await submitExecutions(tx, [aRequest()], new Date(), () => {
      confirmLook = service.lookEarly(tx);
      looks++;
    });
    confirmLook();
  });

  expect(await waiting).toHaveLength(1);
  expect(looks).toBe(1);
  expect(paced.begun()).toBe(2);
  await service.stop();
});

test("a query before the cancellation of its execution assigns nothing", async () => {
  const paced = pacedDb(db);
  const service = aService(paced.db);
  const { claim, leave } = await claimant(service, "w");
  const waiting = claim();
  await paced.untilIdle();

  await service.transaction(async (tx) => {
    const request = aRequest();
    await submitExecutions(tx, [request], new Date());
    service.lookEarly(tx)();
    await cancelQueued(tx, [request.id], new Date());
  });
  await paced.untilIdle();

  leave();
  expect(await waiting).toEqual([]);
  await service.stop();
});

async function claimant(service: ReturnType<typeof aService>, name: string) {
  const worker = aWorker(name);
  const leaving = new AbortController();
  await registerWorkers(db, [worker], new Date());
  return {
    claim: (most = 1) =>
      service.claim({
        worker: { ...worker, draining: false },
        most,
        waitMs: 60_000,
        signal: leaving.signal,
      }),
    leave: () => leaving.abort(),
  };
}

function aService(on: Db) {
  return claimDispatcher({
    db: on,
    clock: movableClock(),
    logger: silent,
    leaseMs: 15_000,
    overdueAfterMs: 900_000,
    pollMs: 3_600_000,
    giveBack: () => {},
  });
}

/** The database, with transactions that can be held just before their commit. */
function pacedDb(real: Db) {
  const open = new Set<Promise<unknown>>();
  let count = 0;
  let beforeCommit: (() => Promise<void>) | undefined;
  const paced: Db = {
    ...real,
    transaction(work) {
      count++;
      const hold = beforeCommit;
      beforeCommit = undefined;
      const whole = real.transaction(async (tx) => {
        const value = await work(tx);
        await hold?.();
        return value;
      });
      open.add(whole);
      const close = () => open.delete(whole);
      whole.then(close, close);
      return whole;
    },
  };
  return {
    db: paced,
    begun: () => count,
    async untilIdle() {
      await new Promise((resolve) => setImmediate(resolve));
      while (open.size > 0) await Promise.allSettled(open);
      await new Promise((resolve) => setImmediate(resolve));
    },
    holdNext() {
      let letGo = () => {};
      let reach = () => {};
      const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
      const reached = new Promise<void>((resolve) => (reach = resolve));
      beforeCommit = () => {
        reach();
        return isLetGo;
      };
      return { reached, letGo: () => letGo() };
    },
  };
}
