import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { actionDigest, aRequest, aWorker, movableClock, never } from "../execution.fixture.ts";
import { openTestQueues } from "../execution-queue.fixture.ts";
import type { ExecutionQueue } from "../execution-queue.ts";
import { submitExecutions } from "../submitting/submit-executions.store.ts";

const db = await freshDb();
afterAll(() => db.close());
const queues = openTestQueues(db);
beforeEach(() => db.script("truncate execution, worker cascade"));
afterEach(() => queues.closeAll());

const second = 1_000;
const minute = 60 * second;

async function aFarm() {
  const clock = movableClock();
  const queue = await queues.open({ clock });
  const worker = aWorker("w", { sizeClass: 2 });
  await queue.register(worker);
  const claim = async (most: number) =>
    (await queue.claim(worker, most, 5_000, never)).map(({ lease }) => lease);
  return { clock, queue, worker, claim };
}

const submitAll = (
  queue: ExecutionQueue,
  requests: readonly ReturnType<typeof aRequest>[],
  at: Date,
) => queue.transaction((tx) => submitExecutions(tx, requests, at));

test("an execution of low priority starts within its bound under endless load of high priority", async () => {
  // Given one worker that is busy with a load of high priority, and one execution of low priority
  const { clock, queue, claim } = await aFarm();
  const low = aRequest({ invocation: "low", priority: 6 });
  await queue.submit(low);
  let waitedMs = 0;

  // When the load does not end
  for (;;) {
    await submitAll(
      queue,
      [1, 2].map(() => aRequest({ invocation: "high", priority: -1_000 })),
      clock.now(),
    );
    const [lease] = await claim(1);
    if (lease === undefined) throw new Error("nothing was handed out");
    if (lease.executionId === low.id) break;
    await queue.finish({ lease, outcome: "failed", exitCode: 1 });
    clock.pass(30 * second);
    waitedMs += 30 * second;
    if (waitedMs > 5 * 60 * minute) throw new Error("the low one starved");
  }

  // Then high-priority executions with an earlier place come first, for the time that corresponds to their priority;
  // and the low one does not start before its own bound
  expect(waitedMs).toBeGreaterThan(16 * minute);
  expect(waitedMs).toBeLessThanOrEqual(15 * minute + 1_006 * 10 * second);
});

test("all executions of the top class start before any other, even if many lanes have executions", async () => {
  const { clock, queue, claim } = await aFarm();
  const usual = Array.from({ length: 300 }, (_, i) =>
    aRequest({ invocation: `i${i}`, sizeClass: 2 }),
  );
  const top = Array.from({ length: 40 }, () => aRequest({ top: true, priority: 700 }));
  await submitAll(queue, usual, new Date(clock.now().getTime() - 60 * minute));
  await submitAll(queue, top, clock.now());

  const leased = await claim(40);

  expect(leased.map(({ executionId }) => executionId).toSorted()).toEqual(
    top.map(({ id }) => id).toSorted(),
  );
});

test("with many owners, many workers and two servers, each free slot gets an execution of the top class", async () => {
  const { clock, queue } = await aFarm();
  const secondServer = await queues.open({ clock });
  const serverOf = (i: number) => (i % 2 === 0 ? queue : secondServer);
  const workers = Array.from({ length: 6 }, (_, i) => aWorker(`busy-${i}`, { sizeClass: 2 }));
  for (const worker of workers) await queue.register(worker);
  const usual = Array.from({ length: 60 }, (_, i) =>
    aRequest({ invocation: `i${i % 20}`, owner: `o${i % 10}`, sizeClass: 2, priority: 1_000 }),
  );
  await submitAll(queue, usual, new Date(clock.now().getTime() - 60 * minute));
  const claimAll = async () => {
    const claims = workers.map(async (worker, i) => {
      const [leased] = await serverOf(i).claim(worker, 1, 0, never);
      return leased === undefined ? [] : [leased.lease];
    });
    return (await Promise.all(claims)).flat();
  };
  const busy = await claimAll();
  const top = Array.from({ length: 9 }, (_, i) =>
    aRequest({ top: true, owner: `o${i % 3}`, sizeClass: i % 2 === 0 ? 1 : 2, priority: -500 }),
  );
  await Promise.all(top.map((each, i) => serverOf(i).submit(each)));

  const handedOut: string[] = [];
  let held = busy;
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      held.map((lease, i) => serverOf(i).finish({ lease, outcome: "failed", exitCode: 1 })),
    );
    held = await claimAll();
    handedOut.push(...held.map(({ executionId }) => executionId));
  }

  expect(busy).toHaveLength(6);
  expect(handedOut).toHaveLength(18);
  expect(handedOut.slice(0, 6).every((id) => top.some((each) => each.id === id))).toBe(true);
  expect(top.every(({ id }) => handedOut.slice(0, 12).includes(id))).toBe(true);
});

test.each([
  { what: "is in the queue", isLeased: false },
  { what: "comes back to it", isLeased: true },
])(
  "an execution that a request of the top class joins is in the top class when it $what",
  async ({ isLeased }) => {
    const { queue, claim } = await aFarm();
    const joined = aRequest({ priority: 500, actionDigest: actionDigest("wanted") });
    await queue.submit(joined);
    const held = isLeased ? await claim(1) : [];
    await queue.submit(aRequest({ priority: -500 }));

    await queue.submit(
      aRequest({ top: true, priority: 900, actionDigest: actionDigest("wanted") }),
    );
    await queue.release(held);
    const [first] = await claim(1);

    expect(first?.executionId).toBe(joined.id);
  },
);

test("an execution stays in the top class when a request with a higher priority joins it", async () => {
  const { queue, claim } = await aFarm();
  const joined = aRequest({ top: true, actionDigest: actionDigest("wanted") });
  await queue.submit(joined);
  await queue.submit(aRequest({ priority: -900 }));

  await queue.submit(aRequest({ priority: -10, actionDigest: actionDigest("wanted") }));
  const [first] = await claim(1);

  expect(first?.executionId).toBe(joined.id);
});

test("the name of an operating system matches in any spelling", async () => {
  const queue = await queues.open();
  const worker = aWorker("w", { platform: { OSFamily: "LINUX", ISA: "x86-64", pool: "Big" } });
  await queue.register(worker);
  const asked = aRequest({ platform: { OSFamily: "Linux", ISA: "X86-64", pool: "Big" } });
  const other = aRequest({ platform: { OSFamily: "Linux", pool: "big" } });
  await queue.submit(asked);
  await queue.submit(other);

  const leased = await queue.claim(worker, 5, 5_000, never);

  expect(leased.map(({ lease }) => lease.executionId)).toEqual([asked.id]);
});
