import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aRequest, aWorker, never } from "../execution.fixture.ts";
import { openTestQueues } from "../execution-queue.fixture.ts";
import type { ExecutionQueue } from "../execution-queue.ts";

const db = await freshDb();
afterAll(() => db.close());
const queues = openTestQueues(db);
beforeEach(() => db.script("truncate execution, worker cascade"));
afterEach(() => queues.closeAll());

const soonMs = 50;
const enoughMs = 600_000;

async function leased(queue: ExecutionQueue) {
  const worker = aWorker("w");
  await queue.register(worker);
  const { executionId } = await queue.submit(aRequest());
  const [work] = await queue.claim(worker, 1, enoughMs, never);
  if (work === undefined) throw new Error("nothing was handed out");
  return { worker, executionId, lease: work.lease };
}

async function cancel(queue: ExecutionQueue, id: Parameters<ExecutionQueue["cancel"]>[1][number]) {
  const after = await queue.transaction((tx) => queue.cancel(tx, [id]));
  after();
}

test("a cancellation is certain once the worker has confirmed it, at any server", async () => {
  const [one, two] = [await queues.open(), await queues.open()];
  const { worker, executionId, lease } = await leased(one);
  const heard = two.cancellations(worker, [], enoughMs, never);

  await cancel(one, executionId);
  const certain = one.untilCancelled([executionId], enoughMs);
  expect(await heard).toMatchObject([lease]);
  const next = two.cancellations(worker, [lease], soonMs, never);

  expect(await certain).toEqual([]);
  expect(await next).toEqual([]);
});

test("a worker that asks after a cancellation is told about it until it has confirmed it", async () => {
  const queue = await queues.open();
  const { worker, executionId, lease } = await leased(queue);
  await cancel(queue, executionId);

  expect(await queue.cancellations(worker, [], enoughMs, never)).toMatchObject([lease]);
  expect(await queue.cancellations(worker, [], enoughMs, never)).toMatchObject([lease]);
  expect(await queue.cancellations(worker, [lease], soonMs, never)).toEqual([]);
});

test("without a confirmation by the worker, a cancellation is not certain", async () => {
  const queue = await queues.open();
  const { executionId } = await leased(queue);
  await cancel(queue, executionId);

  expect(await queue.untilCancelled([executionId], soonMs)).toMatchObject([
    { id: executionId, worker: "w" },
  ]);
});

test("the cancellation of an execution that was not assigned, or that its worker has ended, is certain at once", async () => {
  const queue = await queues.open();
  const { executionId, lease } = await leased(queue);
  const { executionId: waiting } = await queue.submit(aRequest());
  await cancel(queue, executionId);
  await cancel(queue, waiting);
  await queue.finish({ lease, outcome: "cancelled" });

  expect(await queue.untilCancelled([executionId, waiting], enoughMs)).toEqual([]);
});

test("a process cannot confirm a cancellation for another process", async () => {
  const queue = await queues.open();
  const { executionId, lease } = await leased(queue);
  await cancel(queue, executionId);

  await queue.cancellations(aWorker("other"), [lease], soonMs, never);

  expect(await queue.untilCancelled([executionId], soonMs)).toMatchObject([
    { id: executionId, worker: "w" },
  ]);
});
