import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aRequest, aWorker, movableClock, never } from "../execution.fixture.ts";
import { openTestQueues } from "../execution-queue.fixture.ts";
import { listWorkers } from "../leasing/worker.store.ts";
import { addDrain, listDrains, removeDrain } from "./drain.store.ts";

const db = await freshDb();
afterAll(() => db.close());
const queues = openTestQueues(db);
beforeEach(() => db.script("truncate execution, worker cascade; truncate drain"));
afterEach(() => queues.closeAll());

const drain = (pattern: string) =>
  addDrain(db, { pattern, reason: "new disks", createdBy: "ada", createdAt: new Date() });

test.each([
  { pattern: "rack-7/*", drained: ["rack-7/a", "rack-7/b"] },
  { pattern: "*/a", drained: ["rack-7/a", "rack_7/a"] },
  { pattern: "rack-7/a", drained: ["rack-7/a"] },
  { pattern: "rack%", drained: [] },
  { pattern: "rack_7/*", drained: ["rack_7/a"] },
  { pattern: "*", drained: ["rack-7/a", "rack-7/b", "rack_7/a"] },
])("the drain $pattern applies to $drained", async ({ pattern, drained }) => {
  const queue = await queues.open({ clock: movableClock() });
  for (const name of ["rack-7/a", "rack-7/b", "rack_7/a"]) await queue.register(aWorker(name));

  await drain(pattern);

  const listed = await listWorkers(db);
  const names = listed.filter(({ draining }) => draining).map(({ name }) => name);
  expect(names.toSorted()).toEqual(drained);
});

test("a worker that is drained while it waits gets no execution, and finishes those that it has", async () => {
  // Given a worker that runs one execution and waits for more on another server than the drain's
  const [here, there] = [await queues.open(), await queues.open()];
  const worker = aWorker("w", { slots: 2 });
  await here.register(worker);
  await here.submit(aRequest());
  const [held] = await here.claim(worker, 1, 5_000, never);
  if (held === undefined) throw new Error("nothing was handed out");
  const waiting = here.claim(worker, 1, 60_000, never);

  // When it is drained, and work comes
  await drain("w");
  expect(await waiting).toEqual([]);
  await there.submit(aRequest());
  const leaving = new AbortController();
  const resting = here.claim(worker, 1, 60_000, leaving.signal);
  await there.submit(aRequest());
  const ended = await here.finish({ lease: held.lease, outcome: "failed", exitCode: 1 });

  // Then it gets nothing until the drain is over
  expect(ended).toBe("accepted");
  await removeDrain(db, "w");
  expect(await resting).toEqual([]);
  expect(await here.claim(worker, 2, 5_000, never)).toHaveLength(2);
  leaving.abort();
});

test("executions that a drained worker has not started count as held", async () => {
  const queue = await queues.open();
  const worker = aWorker("w", { slots: 2 });
  await queue.register(worker);
  await queue.submit(aRequest());
  await queue.submit(aRequest());
  const [begun] = await queue.claim(worker, 2, 5_000, never);
  if (begun === undefined) throw new Error("nothing was handed out");
  await queue.started(begun.lease, new Date());

  await drain("w");

  expect(await listWorkers(db)).toMatchObject([
    { draining: true, heldCount: 2, running: [{ executionId: begun.lease.executionId }] },
  ]);
});

test("a drain applies to workers that register later, and is stored once", async () => {
  const queue = await queues.open();
  await drain("night-*");
  await drain("night-*");
  await queue.register(aWorker("night-1"));

  expect((await listDrains(db)).map(({ pattern, reason }) => [pattern, reason])).toEqual([
    ["night-*", "new disks"],
  ]);
  expect((await listWorkers(db)).map(({ draining }) => draining)).toEqual([true]);
  expect(await removeDrain(db, "night-*")).toBe(true);
  expect(await removeDrain(db, "night-*")).toBe(false);
});
