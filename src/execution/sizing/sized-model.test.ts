import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import {
  actionDigest,
  aQueue,
  aRequest,
  aWorker,
  movableClock,
  never,
} from "../execution.fixture.ts";
import { ExecutionId } from "../execution.ts";
import type { ExecutionQueue } from "../execution-queue.ts";
import type { FinishedExecution } from "../finishing/finished-execution.ts";
import type { FinishReport } from "../finishing/judge-report.ts";
import type { Lease } from "../leasing/lease.ts";
import { readExecutions } from "../read-executions.store.ts";
import type { Analyzer } from "./size-class-roles.ts";
import { chosen, final } from "./sized.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

const mostAttempts = 3;
const leaseMs = 1_000;
const cancelGraceMs = 700;
const requestedTimeoutMs = 60_000;
const sizes = [1, 2, 4] as const;

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("submit" as const), action: fc.nat(4) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("claim" as const),
      worker: fc.nat(2),
      starts: fc.integer({ min: 0, max: 3 }).map((it) => it > 0),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("finish" as const),
      lease: fc.nat(4),
      outcome: fc.constantFrom<FinishReport["outcome"]>(
        "succeeded",
        "failed",
        "out_of_memory",
        "cancelled",
        "infrastructure_error",
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("release" as const), lease: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("beat" as const), worker: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.integer({ min: 100, max: 900 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rescue" as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("hedges" as const) }) },
  // Second runs begin, and the large worker finishes all its executions before second runs are managed.
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("overtake" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("cancel" as const), execution: fc.nat() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), worker: fc.nat(2) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Begins on the smallest class, starts a second run early, and tries each greater class after a failure. */
const climbing: Analyzer = {
  learnsFromSuccess: true,
  analyze: async (requests) =>
    requests.map(() => ({
      select: () => chosen(1, { isExact: false, hedge: { afterMs: 300, sizeClass: 4 } }),
    })),
  learner: async () => ({
    ended({ sizeClass, outcome }) {
      const greater = sizes.find((each) => each > sizeClass);
      if (outcome === "succeeded")
        return { kind: "final", background: { chosen: chosen(2), mostWaiting: 2 } };
      return greater === undefined
        ? final
        : { kind: "again", chosen: chosen(greater, { hedge: { afterMs: 300, sizeClass: 4 } }) };
    },
  }),
};

interface World {
  readonly queues: readonly ExecutionQueue[];
  readonly clock: ReturnType<typeof movableClock>;
  readonly workers: ReturnType<typeof aWorker>[];
  readonly submitted: ExecutionId[];
  readonly leases: { readonly lease: Lease; readonly worker: number }[];
}

async function take(each: Step, server: number, world: World): Promise<void> {
  const { queues, clock, workers, submitted, leases } = world;
  const queue = queues[server] as ExecutionQueue;
  const recent = (index: number) => leases.at(-1 - index)?.lease;
  switch (each.kind) {
    case "submit": {
      const asked = { actionDigest: actionDigest(`${each.action}`), timeoutMs: requestedTimeoutMs };
      const { executionId, isNew } = await queue.submit(aRequest(asked));
      if (isNew) submitted.push(executionId);
      return;
    }
    case "claim": {
      const worker = workers[each.worker] as (typeof workers)[number];
      // Another step may have put a new process in its place.
      const got = await queue.claim(worker, 2, 0, never).catch(() => []);
      for (const { lease } of got) {
        leases.push({ lease, worker: each.worker });
        if (each.starts) await queue.started(lease, clock.now());
      }
      return;
    }
    case "finish": {
      const lease = recent(each.lease);
      if (lease === undefined) return;
      const result = new Uint8Array([1]);
      await queue.finish({ lease, outcome: each.outcome, exitCode: 0, result });
      return;
    }
    case "release": {
      const lease = recent(each.lease);
      if (lease !== undefined) await queue.release([lease]);
      return;
    }
    case "beat": {
      const own = leases.filter(({ worker }) => worker === each.worker).map(({ lease }) => lease);
      const worker = workers[each.worker] as (typeof workers)[number];
      await queue.heartbeat({ worker, leases: own.slice(-10), draining: false });
      return;
    }
    case "pass":
      clock.pass(each.ms);
      return;
    case "rescue":
      await queue.rescue();
      return;
    case "hedges":
      await queue.lookAfterHedges();
      return;
    case "overtake": {
      clock.pass(300);
      await queue.lookAfterHedges();
      const great = workers[2] as (typeof workers)[number];
      const got = await queue.claim(great, 5, 0, never).catch(() => []);
      const result = new Uint8Array([2]);
      for (const { lease } of got)
        await queue.finish({ lease, outcome: "succeeded", exitCode: 0, result });
      return;
    }
    case "cancel": {
      const id = submitted[each.execution % Math.max(1, submitted.length)];
      if (id !== undefined) (await queue.transaction((tx) => queue.cancel(tx, [id])))();
      return;
    }
    case "restart": {
      const before = workers[each.worker] as (typeof workers)[number];
      const worker = aWorker(before.name, { sizeClass: before.sizeClass });
      workers[each.worker] = worker;
      await queue.register(worker).catch(() => {});
      return;
    }
  }
}

const Row = z.object({
  id: ExecutionId,
  state: z.string(),
  attempt: z.number(),
  sizeClass: z.number(),
  timeoutMs: z.number(),
  hedgeOf: z.string().nullable(),
  isOpen: z.boolean(),
  sizeRetries: z.number(),
  attempts: z.array(z.number()),
  lost: z.number(),
});
const rows = () =>
  db.many(
    Row,
    sql`
      select id, state, attempt, size_class as "sizeClass", timeout_ms as "timeoutMs",
        hedge_of as "hedgeOf", hedge_is_open as "isOpen", size_retries as "sizeRetries",
        array(select attempt from execution_attempt where execution_id = id order by attempt) as attempts,
        (select count(*)::integer from execution_attempt
         where execution_id = id and outcome in ('worker_lost', 'infrastructure_error')) as lost
      from execution`,
  );

/** Invariants that hold after any sequence of events. */
async function checkAll(ended: Map<ExecutionId, string>): Promise<void> {
  const all = await rows();
  for (const row of all) {
    expect(row.timeoutMs).toBeLessThanOrEqual(requestedTimeoutMs);
    expect(row.lost).toBeLessThanOrEqual(mostAttempts + 1);
    const over = Array.from({ length: row.attempt }, (_, i) => i + 1);
    expect(row.attempts).toEqual(row.state === "leased" ? over.slice(0, -1) : over);
  }
  const done = all.filter(({ state }) => state === "finished").map(({ id }) => id);
  for (const view of await readExecutions(db, done)) {
    const now = JSON.stringify(view.finished);
    expect(now).toBe(ended.get(view.id) ?? now);
    ended.set(view.id, now);
  }
}

/** Without further failures, everything ends. */
async function drain(world: World): Promise<void> {
  for (let round = 0; round < 40; round++) {
    world.clock.pass(cancelGraceMs);
    for (const server of [0, 1]) {
      await take({ kind: "hedges" }, server, world);
      await take({ kind: "rescue" }, server, world);
    }
    for (const [index, worker] of world.workers.entries()) {
      const queue = world.queues[index % 2] as ExecutionQueue;
      for (const { lease } of await queue.claim(worker, 20, 0, never))
        await queue.finish({ lease, outcome: "succeeded", exitCode: 0, result: new Uint8Array() });
    }
    if ((await rows()).every(({ state, isOpen }) => state === "finished" && !isOpen)) return;
  }
  throw new Error(`does not end: ${JSON.stringify(await rows())}`);
}

test("with retries, second runs and background runs at two servers, each execution ends once and keeps its end", async () => {
  await fc.assert(
    fc.asyncProperty(
      // Several steps in a row run at once.
      fc.array(fc.array(fc.tuple(step, fc.nat(1)), { minLength: 1, maxLength: 4 }), {
        minLength: 5,
        maxLength: 30,
      }),
      async (history) => {
        await db.script("truncate execution, worker cascade");
        const clock = movableClock();
        const ends: FinishedExecution[] = [];
        const hooks = {
          onFinished: async (_tx: unknown, some: readonly FinishedExecution[]) => () =>
            void ends.push(...some),
        };
        const times = { mostAttempts, leaseMs, cancelGraceMs };
        const parts = { clock, hooks, times, analyzer: climbing };
        const queues = [await aQueue(db, parts), await aQueue(db, parts)];
        try {
          const workers = sizes.map((sizeClass) => aWorker(`w${sizeClass}`, { sizeClass }));
          for (const worker of workers) await queues[0]?.register(worker);
          const world: World = { queues, clock, workers, submitted: [], leases: [] };
          const ended = new Map<ExecutionId, string>();
          for (const atOnce of history) {
            await Promise.all(atOnce.map(([each, server]) => take(each, server, world)));
            await checkAll(ended);
          }
          for (const [index, worker] of workers.entries())
            workers[index] = aWorker(worker.name, { sizeClass: worker.sizeClass });
          for (const worker of workers) await queues[1]?.register(worker).catch(() => {});
          clock.pass(10 * leaseMs);
          for (const worker of workers) await queues[1]?.register(worker);
          await drain(world);
          await checkAll(ended);
          expect(ends.map(({ id }) => id).toSorted()).toEqual([...ended.keys()].toSorted());
          for (const end of ends)
            expect(JSON.parse(ended.get(end.id) ?? "{}")).toMatchObject({
              outcome: end.outcome,
              attempt: end.attempt,
            });
        } finally {
          await Promise.all(queues.map((queue) => queue.stop()));
        }
      },
    ),
    { numRuns: 40 },
  );
  // There was no deadlock: all code locks executions in one order, and workers after them.
  const [stats] = await db.many(
    z.object({ deadlocks: z.number() }),
    sql`select deadlocks from pg_stat_database where datname = current_database()`,
  );
  expect(stats).toEqual({ deadlocks: 0 });
});
