import assert from "node:assert/strict";
import fc from "fast-check";
import type { Db } from "#db/db.ts";
import { actionDigest, aRequest, aWorker, type movableClock, never } from "./execution.fixture.ts";
import type { ExecutionId } from "./execution.ts";
import type { ExecutionQueue } from "./execution-queue.ts";
import type { FinishReport } from "./finishing/judge-report.ts";
import { type Lease, leaseKey } from "./leasing/lease.ts";
import { readExecutions } from "./read-executions.store.ts";

/** The expected state of an execution in the queue. */
interface Expected {
  state: "queued" | "leased" | "finished";
  attempt: number;
  epoch: number;
  until: number;
  isUnwanted: boolean;
  unwantedSince: number;
  worker: number;
  /** It waits again after its lease was lost, and was not assigned since. */
  isLost: boolean;
}

export interface World {
  readonly queues: readonly ExecutionQueue[];
  readonly clock: ReturnType<typeof movableClock>;
  readonly workers: ReturnType<typeof aWorker>[];
  readonly expected: Map<ExecutionId, Expected>;
  readonly leases: Lease[];
}

export const mostAttempts = 3;
export const leaseMs = 1_000;
export const cancelGraceMs = 700;

export const step = fc.oneof(
  fc.record({ kind: fc.constant("submit" as const), action: fc.nat(3), uncached: fc.boolean() }),
  fc.record({
    kind: fc.constant("claim" as const),
    worker: fc.nat(2),
    most: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({
    kind: fc.constant("finish" as const),
    lease: fc.nat(),
    /** Whether the report names its process; without that, no lost lease is restored. */
    isNamed: fc.boolean(),
    outcome: fc.constantFrom<FinishReport["outcome"]>(
      "succeeded",
      "failed",
      "timed_out",
      "cancelled",
      "infrastructure_error",
    ),
  }),
  fc.record({ kind: fc.constant("release" as const), lease: fc.nat() }),
  fc.record({ kind: fc.constant("started" as const), lease: fc.nat() }),
  fc.record({ kind: fc.constant("beat" as const), worker: fc.nat(2), onlyOver: fc.boolean() }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 300, max: 1_100 }) }),
  fc.record({ kind: fc.constant("rescue" as const) }),
  fc.record({ kind: fc.constant("cancel" as const), execution: fc.nat() }),
  fc.record({ kind: fc.constant("restart" as const), worker: fc.nat(2) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

export async function compare(db: Db, { expected }: World): Promise<void> {
  const views = await readExecutions(db, [...expected.keys()]);
  assert.equal(views.length, expected.size);
  for (const view of views) {
    const { state, attempt, epoch } = expected.get(view.id) ?? { state: "", attempt: 0, epoch: 0 };
    assert.deepEqual(
      { id: view.id, state: view.state.kind, attempt: view.attempt },
      {
        id: view.id,
        state,
        attempt,
      },
    );
    assert.ok(view.attempt <= mostAttempts);
    if (view.state.kind === "leased") assert.equal(view.state.epoch, epoch);
  }
}

/** Without further failures, all work ends. */
export async function drain(db: Db, world: World): Promise<void> {
  for (let round = 0; round < 20; round++) {
    world.clock.pass(leaseMs);
    await take({ kind: "rescue" }, 0, world);
    await take({ kind: "claim", worker: 0, most: 3 }, 0, world);
    for (const [index, lease] of world.leases.entries())
      if (isHeld(world, lease))
        await take(
          { kind: "finish", lease: index, isNamed: false, outcome: "succeeded" },
          1,
          world,
        );
  }
  await compare(db, world);
  assert.deepEqual(
    [...world.expected.values()].filter(({ state }) => state !== "finished"),
    [],
  );
}

function isHeld({ expected }: World, lease: Lease): boolean {
  const each = expected.get(lease.executionId);
  return each?.state === "leased" && each.attempt === lease.attempt && each.epoch === lease.epoch;
}

/** The worker gets it back when it names it in a heartbeat or in a report of its end. */
function mayBeRevived({ expected }: World, lease: Lease): boolean {
  const each = expected.get(lease.executionId);
  return each?.state === "queued" && each.isLost && each.epoch === lease.epoch;
}

function lose(each: Expected, counts = true): void {
  if (each.isUnwanted || (counts && each.attempt >= mostAttempts)) each.state = "finished";
  else {
    each.state = "queued";
    if (!counts) each.attempt--;
  }
}

export async function take(each: Step, server: number, world: World): Promise<void> {
  const { queues, clock, workers, expected, leases } = world;
  const queue = queues[server] as ExecutionQueue;
  const now = clock.now().getTime();
  // Mostly recent ones: an old lease is interesting while its execution lives on.
  const pick = (index: number) => leases[leases.length - 1 - (index % Math.min(5, leases.length))];
  switch (each.kind) {
    case "submit": {
      const request = aRequest({
        actionDigest: actionDigest(`${each.action}`),
        doNotCache: each.uncached,
      });
      const { executionId: id, isNew } = await queue.submit(request);
      assert.equal(isNew, id === request.id);
      if (isNew)
        expected.set(id, {
          state: "queued",
          attempt: 0,
          epoch: 0,
          until: 0,
          isUnwanted: false,
          unwantedSince: 0,
          worker: -1,
          isLost: false,
        });
      else {
        const joined = expected.get(id);
        assert.ok(joined !== undefined && !joined.isUnwanted && joined.state !== "finished");
      }
      return;
    }
    case "claim": {
      const queued = [...expected.values()].filter(({ state }) => state === "queued").length;
      const leased = await queue.claim(
        workers[each.worker] as (typeof workers)[0],
        each.most,
        queued === 0 ? 0 : 5_000,
        never,
      );
      assert.equal(leased.length, Math.min(queued, each.most));
      for (const { lease } of leased) {
        const one = expected.get(lease.executionId) as Expected;
        assert.equal(one.state, "queued");
        Object.assign(one, {
          state: "leased",
          attempt: one.attempt + 1,
          epoch: one.epoch + 1,
          until: now + leaseMs,
          worker: each.worker,
          isLost: false,
          hasStarted: false,
        });
        assert.deepEqual(
          { ...lease },
          { executionId: lease.executionId, attempt: one.attempt, epoch: one.epoch },
        );
        leases.push(lease);
      }
      return;
    }
    case "finish": {
      const lease = pick(each.lease);
      if (lease === undefined) return;
      const one = expected.get(lease.executionId) as Expected;
      const isLate = each.isNamed && mayBeRevived(world, lease);
      const verdict = await queue.finish({
        lease,
        ...(each.isNamed ? { by: workers[one.worker] as (typeof workers)[0] } : {}),
        outcome: each.outcome,
        exitCode: 0,
        result: new Uint8Array(),
      });
      assert.equal(verdict, isHeld(world, lease) || isLate ? "accepted" : "refused");
      if (verdict === "refused") return;
      one.isLost = false;
      if (each.outcome === "cancelled" || each.outcome === "infrastructure_error") lose(one);
      else one.state = "finished";
      return;
    }
    case "release": {
      const lease = pick(each.lease);
      if (lease === undefined) return;
      const held = isHeld(world, lease);
      await queue.release([lease]);
      const one = expected.get(lease.executionId) as Expected & { hasStarted?: boolean };
      if (held) lose(one, one.hasStarted === true);
      return;
    }
    case "started": {
      const lease = pick(each.lease);
      if (lease === undefined) return;
      assert.equal(await queue.started(lease, clock.now()), isHeld(world, lease));
      if (isHeld(world, lease))
        Object.assign(expected.get(lease.executionId) as Expected, { hasStarted: true });
      return;
    }
    case "beat": {
      // Ended leases extend nothing, although their execution may be held again.
      const named = leases.filter((lease) => !each.onlyOver || !isHeld(world, lease));
      const answer = await queue.heartbeat({
        worker: workers[each.worker] as (typeof workers)[0],
        leases: named,
        draining: false,
      });
      // Only the worker that holds a lease can extend it, no other that names it. The same is true for a lost lease
      // until the execution is assigned again.
      const isItsOwn = (lease: Lease) =>
        (isHeld(world, lease) || mayBeRevived(world, lease)) &&
        expected.get(lease.executionId)?.worker === each.worker;
      assert.deepEqual(
        new Set(answer.lost.map(leaseKey)),
        new Set(named.filter((lease) => !isItsOwn(lease)).map(leaseKey)),
      );
      for (const lease of named.filter(isItsOwn))
        Object.assign(expected.get(lease.executionId) as Expected, {
          state: "leased",
          until: now + leaseMs,
          isLost: false,
        });
      return;
    }
    case "pass":
      clock.pass(each.ms);
      return;
    case "rescue": {
      await queue.rescue();
      for (const one of expected.values()) {
        if (one.state !== "leased") continue;
        if (one.isUnwanted && one.unwantedSince + cancelGraceMs <= now) one.state = "finished";
        else if (one.until <= now) {
          lose(one);
          one.isLost = true;
        }
      }
      return;
    }
    case "cancel": {
      const id = [...expected.keys()][each.execution % Math.max(1, expected.size)];
      if (id === undefined) return;
      const after = await queue.transaction((tx) => queue.cancel(tx, [id]));
      after();
      const one = expected.get(id) as Expected;
      if (one.state === "queued") one.state = "finished";
      else if (one.state === "leased" && !one.isUnwanted)
        Object.assign(one, { isUnwanted: true, unwantedSince: now });
      return;
    }
    case "restart": {
      const worker = aWorker(["a", "b", "c"][each.worker] ?? "a");
      await queue.register(worker);
      workers[each.worker] = worker;
      for (const one of expected.values())
        if (one.state === "leased" && one.worker === each.worker) {
          lose(one);
          one.isLost = true;
        }
      return;
    }
  }
}
