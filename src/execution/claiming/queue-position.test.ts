import fc from "fast-check";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aRequest, aWorker, movableClock, never } from "../execution.fixture.ts";
import type { ExecutionId, ExecutionRequest } from "../execution.ts";
import { openTestQueues } from "../execution-queue.fixture.ts";
import { defaultTimes } from "../queue-times.ts";
import { submitExecutions } from "../submitting/submit-executions.store.ts";
import { queuePosition } from "./queue-position.store.ts";

const db = await freshDb();
afterAll(() => db.close());
const queues = openTestQueues(db);
beforeEach(() => db.script("truncate execution, worker cascade"));
afterEach(() => queues.closeAll());

const minute = 60_000;

async function aFarm() {
  const clock = movableClock();
  const queue = await queues.open({ clock });
  const worker = aWorker("w", { sizeClass: 2, slots: 100 });
  await queue.register(worker);
  return {
    clock,
    queue,
    worker,
    submit: (requests: readonly ExecutionRequest[], agoMs = 0) =>
      db.transaction((tx) =>
        submitExecutions(tx, requests, new Date(clock.now().getTime() - agoMs)),
      ),
    position: (id: ExecutionId) =>
      db.transaction((tx) => queuePosition(tx, id, clock.now(), defaultTimes)),
  };
}

const some = (count: number, changes: Partial<ExecutionRequest>) =>
  Array.from({ length: count }, () => aRequest(changes));

test("counts the executions ahead: of the top class, of the same invocation, and of others in their turns", async () => {
  const { submit, position } = await aFarm();
  const mine = aRequest({ invocation: "mine", expectedDurationMs: 1 });
  await submit(some(3, { top: true }));
  await submit(some(4, { invocation: "mine" }));
  await submit(some(50, { invocation: "other" }));
  await submit(some(50, { platform: { OSFamily: "windows" } }));
  await submit([mine]);

  expect(await position(mine.id)).toMatchObject({
    kind: "queued",
    isTop: false,
    isOverdue: false,
    ahead: { top: 3, sameInvocation: 4, others: 4, isMore: false },
    share: 0.5,
    laneRunning: 0,
  });
});

test("for an overdue execution, only earlier places are ahead", async () => {
  const { submit, position } = await aFarm();
  const mine = aRequest({ invocation: "mine" });
  await submit(some(20, { invocation: "other" }));
  await submit(some(2, { invocation: "old" }), 17 * minute);
  await submit([mine], 16 * minute);

  expect(await position(mine.id)).toMatchObject({
    isOverdue: true,
    ahead: { top: 0, sameInvocation: 0, others: 2 },
  });
});

test("names the workers that could run an execution, and when one of them is expected to be free", async () => {
  const { clock, queue, worker, submit, position } = await aFarm();
  await queue.register(aWorker("small", { platform: { OSFamily: "linux" } }));
  await submit([aRequest({ expectedDurationMs: 5_000 })]);
  const [held] = await queue.claim(worker, 1, 5_000, never);
  if (held === undefined) throw new Error("nothing was handed out");
  await queue.started(held.lease, clock.now());
  const mine = aRequest({ sizeClass: 2, platform: { OSFamily: "linux", network: "off" } });
  await submit([mine]);

  expect(await position(mine.id)).toMatchObject({
    requirements: { OSFamily: "linux" },
    sizeClass: 2,
    offers: [
      { sizeClass: 1, condition: "alive", workers: 1, busy: 0 },
      { sizeClass: 2, condition: "alive", workers: 1, busy: 0 },
    ],
    freeAt: new Date(clock.now().getTime() + 5_000),
  });
  clock.pass(defaultTimes.leaseMs + 1);
  expect(await position(mine.id)).toMatchObject({
    offers: [{ condition: "silent" }, { condition: "silent" }],
  });
});

test("an execution that is assigned, finished or unknown has no position in the queue", async () => {
  const { queue, worker, submit, position } = await aFarm();
  const mine = aRequest();
  await submit([mine]);
  const [held] = await queue.claim(worker, 1, 5_000, never);
  if (held === undefined) throw new Error("nothing was handed out");

  expect(await position(mine.id)).toEqual({ kind: "leased", worker: "w", away: undefined });
  await queue.finish({ lease: held.lease, outcome: "failed", exitCode: 1 });
  expect(await position(mine.id)).toBeUndefined();
  expect(await position(aRequest().id)).toBeUndefined();
});

test("for an execution whose worker is silent, the end of the lease is returned", async () => {
  const { queue, worker, submit, position, clock } = await aFarm();
  const far = { ...worker, leaseMs: 1_200_000 };
  await queue.register(far);
  const mine = aRequest();
  await submit([mine]);
  const [held] = await queue.claim(far, 1, 5_000, never);
  if (held === undefined) throw new Error("nothing was handed out");
  const lastSeenAt = clock.now();
  await queue.heartbeat({ worker: far, leases: [held.lease], draining: false });

  clock.pass(defaultTimes.leaseMs + 1);

  expect(await position(mine.id)).toMatchObject({
    kind: "leased",
    away: { lastSeenAt, leasedUntil: new Date(lastSeenAt.getTime() + 1_200_000) },
  });
});

test("as many executions are assigned before an execution as were counted ahead of it", async () => {
  const wave = fc.record({
    invocation: fc.constantFrom("a", "b", "c"),
    top: fc.constantFrom(true, false, false, false),
    agoMs: fc.integer({ min: 0, max: 20 }).map((minutes) => minutes * minute),
    count: fc.integer({ min: 1, max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(wave, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      async (waves, isTheirs) => {
        await db.script("truncate execution, worker cascade");
        const { queue, worker, submit, position } = await aFarm();
        // The older ones first, each in its own order, so that no two places are equal.
        let lengthMs = 1_000_000;
        const all: ExecutionRequest[] = [];
        for (const { invocation, top, agoMs, count } of waves) {
          // An invocation has one owner. Executions of the top class will count for their owner in later turns, which
          // the estimate ignores.
          const owner = top ? "urgent" : isTheirs && invocation === "c" ? "they" : "us";
          const requests = Array.from({ length: count }, () => {
            lengthMs -= 1_000;
            return aRequest({
              invocation: top ? "urgent" : invocation,
              owner,
              top,
              expectedDurationMs: lengthMs,
            });
          });
          all.push(...requests);
          await submit(requests, agoMs);
        }
        const said = new Map<ExecutionId, number>();
        for (const { id } of all) {
          const found = await position(id);
          if (found?.kind !== "queued") throw new Error("it is not queued");
          const { top, sameInvocation, others } = found.ahead;
          said.set(id, top + sameInvocation + others);
        }

        for (let nth = 0; nth < all.length; nth++) {
          const [held] = await queue.claim(worker, 1, 5_000, never);
          const told = said.get(held?.lease.executionId as ExecutionId) ?? -1;
          // Lanes with equal turns are ordered by place, which the estimate ignores.
          expect(Math.abs(told - nth)).toBeLessThanOrEqual(2);
        }
        await queues.closeAll();
      },
    ),
    { numRuns: 20 },
  );
  // Each run needs some dozens of database queries.
});
