import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { actionDigest, aRequest, aWorker, movableClock, never } from "../execution.fixture.ts";
import { openTestQueues } from "../execution-queue.fixture.ts";
import type { ExecutionQueue } from "../execution-queue.ts";
import type { LeasedExecution } from "../leasing/lease.ts";
import { readAttempts, readExecutions } from "../read-executions.store.ts";
import type { AfterAttempt, EndedRun } from "./size-class-roles.ts";
import { decisionsOf } from "./size-decision.store.ts";
import { analyzer, chosen } from "./sized.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());
const queues = openTestQueues(db);
const { finished } = queues;
beforeEach(() => db.script("truncate execution, worker cascade"));
afterEach(() => queues.closeAll());

const small = aWorker("small", { sizeClass: 1 });
const middle = aWorker("middle", { sizeClass: 2 });
const large = aWorker("large", { sizeClass: 4 });

async function open(parts: Parameters<typeof queues.open>[0] = {}): Promise<ExecutionQueue> {
  const queue = await queues.open({
    hooks: {
      async onFinished(_tx, some) {
        return () => void finished.push(...some);
      },
    },
    ...parts,
  });
  for (const worker of [small, middle, large]) await queue.register(worker);
  return queue;
}

async function only(queue: ExecutionQueue, worker: typeof small): Promise<LeasedExecution> {
  const [execution, ...more] = await queue.claim(worker, 2, 0, never);
  if (execution === undefined) throw new Error(`nothing for ${worker.name}`);
  expect(more).toEqual([]);
  return execution;
}

describe("a chosen class", () => {
  test("is the class of the workers that run the execution, with the chosen timeout", async () => {
    const queue = await open({ analyzer: analyzer(chosen(2)) });
    const request = aRequest({ timeoutMs: 60_000 });
    await queue.submit(request);

    expect(await queue.claim(small, 1, 0, never)).toEqual([]);
    expect(await queue.claim(large, 1, 0, never)).toEqual([]);
    const execution = await only(queue, middle);

    expect(execution).toMatchObject({ lease: { executionId: request.id }, timeoutMs: 5_000 });
    expect(await decisionsOf(db, request.id)).toMatchObject([
      { number: 1, purpose: "first", sizeClass: 2, key: "a.key", reason: { kind: "fixed" } },
    ]);
  });

  test("may run on an idle worker of a greater class, unless the choice is exact", async () => {
    const queue = await open({ analyzer: analyzer(chosen(1, { isExact: false })) });
    const { executionId } = await queue.submit(aRequest());

    expect((await only(queue, large)).lease).toMatchObject({ executionId });
  });

  test("is at most the greatest requested class", async () => {
    const queue = await open({ analyzer: analyzer(chosen(1, { isExact: false })) });
    await queue.submit(aRequest({ mostSizeClass: 2 }));

    expect(await queue.claim(large, 1, 0, never)).toEqual([]);
    await only(queue, middle);
  });
});

test("without an analyzer, only the requested bounds count", async () => {
  const queue = await open();
  await queue.submit(aRequest({ sizeClass: 2, mostSizeClass: 2 }));

  expect(await queue.claim(small, 1, 0, never)).toEqual([]);
  expect(await queue.claim(large, 1, 0, never)).toEqual([]);
  await only(queue, middle);
});

describe("after a run", () => {
  test("a failure is tried again on another class, and the client gets only the result of that run", async () => {
    const again = (run: EndedRun): AfterAttempt =>
      run.sizeClass === 1
        ? { kind: "again", chosen: chosen(4, { timeoutMs: 60_000 }) }
        : { kind: "final", background: undefined };
    const clock = movableClock();
    const sizing = analyzer(chosen(1), again);
    const queue = await open({ analyzer: sizing, clock });
    const request = aRequest();
    await queue.submit(request);
    const { lease } = await only(queue, small);
    await queue.started(lease, clock.now());
    clock.pass(2_000);

    const usage = { userMs: 1_500, systemMs: 100, peakMemoryBytes: 4e9, measuredBy: "proc" };
    await queue.finish({ lease, outcome: "out_of_memory", exitCode: 137, usage });

    expect(finished).toEqual([]);
    expect(sizing.heard).toEqual([
      {
        sizeClass: 1,
        outcome: "out_of_memory",
        durationMs: 2_000,
        timeoutMs: 5_000,
        exitCode: 137,
        cpuMs: 1_600,
        peakMemoryBytes: 4e9,
      },
    ]);
    expect(await queue.claim(small, 1, 0, never)).toEqual([]);
    const second = await only(queue, large);
    expect(second.timeoutMs).toBe(60_000);
    await queue.finish({
      lease: second.lease,
      outcome: "succeeded",
      exitCode: 0,
      result: new Uint8Array(),
    });
    expect(finished).toMatchObject([{ id: request.id, outcome: "succeeded", worker: "large" }]);
    expect(await readAttempts(db, request.id)).toMatchObject([
      { attempt: 1, outcome: "out_of_memory", worker: "small" },
      { attempt: 2, outcome: "succeeded", worker: "large" },
    ]);
    expect(
      (await decisionsOf(db, request.id)).map(({ purpose, sizeClass }) => [purpose, sizeClass]),
    ).toEqual([
      ["first", 1],
      ["retry", 4],
    ]);
  });

  test("further tries on greater classes use no attempts, and their number is limited", async () => {
    const endless = analyzer(chosen(1), () => ({ kind: "again", chosen: chosen(1) }));
    const queue = await open({ analyzer: endless, times: { mostAttempts: 2 } });
    const request = aRequest();
    await queue.submit(request);

    let runs = 0;
    for (; finished.length === 0 && runs < 100; runs++) {
      const { lease } = await only(queue, small);
      await queue.finish({ lease, outcome: "failed", exitCode: 1, result: new Uint8Array() });
    }

    expect(runs).toBe(33);
    expect(finished).toMatchObject([{ outcome: "failed" }]);
  });

  test("a lost worker is reported to the analyzer, and counts as an attempt", async () => {
    const again = analyzer(chosen(1), () => ({ kind: "again", chosen: chosen(2) }));
    const clock = movableClock();
    const queue = await open({ analyzer: again, clock, times: { mostAttempts: 2 } });
    const request = aRequest();
    await queue.submit(request);
    const { lease } = await only(queue, small);
    await queue.started(lease, clock.now());
    clock.pass(60_000);
    await queue.rescue();
    clock.pass(600_000);
    await queue.rescue();

    const second = await only(queue, middle);

    expect(again.heard).toMatchObject([{ outcome: "worker_lost", sizeClass: 1 }]);
    expect(second.lease).toMatchObject({ executionId: request.id, attempt: 2 });
  });

  test("an execution that is being cancelled, or that lacks inputs, is not tried again", async () => {
    const sizing = analyzer(chosen(1), () => ({ kind: "again", chosen: chosen(4) }));
    const queue = await open({ analyzer: sizing });
    const [cancelled, lacking] = [aRequest(), aRequest()];
    await queue.submit(cancelled);
    const first = await only(queue, small);
    await db.transaction((tx) => queue.cancel(tx, [cancelled.id]));
    await queue.finish({ lease: first.lease, outcome: "failed", exitCode: 1 });
    await queue.submit(lacking);
    const second = await only(queue, small);
    await queue.finish({
      lease: second.lease,
      outcome: "failed",
      missingInputs: [actionDigest("gone")],
    });

    expect(finished.map(({ outcome }) => outcome)).toEqual(["failed", "failed"]);
  });

  test("a further run in the background belongs to no client, and no client keeps it", async () => {
    const sizing = analyzer(chosen(4), ({ sizeClass }) => ({
      kind: "final",
      background: sizeClass === 4 ? { chosen: chosen(1), mostWaiting: 1 } : undefined,
    }));
    const queue = await open({ analyzer: sizing });
    await queue.submit(aRequest({ similarityKeys: ["a.key"], title: "Compile //a" }));
    const { lease } = await only(queue, large);
    const result = new Uint8Array();

    await queue.finish({ lease, outcome: "succeeded", exitCode: 0, result });

    const background = await only(queue, small);
    expect(finished).toHaveLength(1);
    const [view] = await readExecutions(db, [background.lease.executionId]);
    expect(view).toMatchObject({ id: background.lease.executionId, project: "p" });
    expect(await decisionsOf(db, background.lease.executionId)).toMatchObject([
      { purpose: "background", sizeClass: 1 },
    ]);
    await queue.finish({ lease: background.lease, outcome: "succeeded", exitCode: 0, result });
    expect(finished[1]).toMatchObject({ doNotCache: true });
  });
});

describe("a second run beside the first", () => {
  const hedging = () =>
    analyzer(chosen(1, { hedge: { afterMs: 3_000, sizeClass: 4 }, timeoutMs: 60_000 }));

  async function hedged(queue: ExecutionQueue, clock: ReturnType<typeof movableClock>) {
    const request = aRequest();
    await queue.submit(request);
    const first = await only(queue, small);
    await queue.started(first.lease, clock.now());
    clock.pass(2_000);
    await queue.lookAfterHedges();
    expect(await queue.claim(large, 1, 0, never)).toEqual([]);
    clock.pass(1_000);
    await queue.lookAfterHedges();
    const second = await only(queue, large);
    return { request, first: first.lease, second: second.lease };
  }
  const done = { outcome: "succeeded", exitCode: 0, result: new Uint8Array([1]) } as const;

  test("begins when the first run takes longer than expected; if it ends first, its end counts, and that of the first run is refused", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: hedging(), clock });
    const { request, first, second } = await hedged(queue, clock);
    await queue.appendLog({ lease: second, offset: 0, bytes: Buffer.from("of the second") });
    await queue.started(second, clock.now());
    clock.pass(500);

    await queue.finish({ lease: second, ...done });
    await queue.lookAfterHedges();

    const own = finished.filter(({ id }) => id === request.id);
    expect(own).toMatchObject([{ outcome: "succeeded", worker: "large", attempt: 2 }]);
    expect(await queue.finish({ lease: first, ...done })).toBe("refused");
    expect(
      await queue.heartbeat({ worker: small, leases: [first], draining: false }),
    ).toMatchObject({
      lost: [first],
    });
    expect(await readAttempts(db, request.id)).toMatchObject([
      { attempt: 1, outcome: "cancelled", worker: "small" },
      { attempt: 2, outcome: "succeeded", worker: "large" },
    ]);
    expect((await decisionsOf(db, request.id)).map(({ purpose }) => purpose)).toEqual([
      "first",
      "hedge",
    ]);
    await queue.lookAfterHedges();
    expect(finished.filter(({ id }) => id === request.id)).toHaveLength(1);
  });

  test("is cancelled when the first run has ended, whether it waits or runs", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: hedging(), clock });
    const { request, first, second } = await hedged(queue, clock);

    await queue.finish({ lease: first, ...done });
    await queue.lookAfterHedges();

    expect(
      await queue.heartbeat({ worker: large, leases: [second], draining: false }),
    ).toMatchObject({
      cancelled: [second],
    });
    await queue.finish({ lease: second, outcome: "cancelled" });
    await queue.lookAfterHedges();
    expect(finished.filter(({ id }) => id === request.id)).toMatchObject([
      { outcome: "succeeded", worker: "small" },
    ]);
  });

  test("does not change the first run when it fails", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: hedging(), clock });
    const { request, first, second } = await hedged(queue, clock);

    await queue.finish({ lease: second, outcome: "failed", exitCode: 1 });
    await queue.lookAfterHedges();
    expect(finished.filter(({ id }) => id === request.id)).toEqual([]);
    await queue.finish({ lease: first, ...done });

    expect(finished.filter(({ id }) => id === request.id)).toMatchObject([
      { outcome: "succeeded" },
    ]);
  });

  test("that ends while the first run waits again ends the execution, at any server", async () => {
    const clock = movableClock();
    const [one, two] = [
      await open({ analyzer: hedging(), clock }),
      await open({ analyzer: hedging(), clock }),
    ];
    const { request, first, second } = await hedged(one, clock);
    await one.finish({ lease: first, outcome: "infrastructure_error" });

    await two.finish({ lease: second, ...done });
    await Promise.all([one.lookAfterHedges(), two.lookAfterHedges()]);

    expect(finished.filter(({ id }) => id === request.id)).toMatchObject([
      { outcome: "succeeded" },
    ]);
    expect(await one.claim(small, 1, 0, never)).toEqual([]);
  });

  test("is cancelled together with the first run", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: hedging(), clock });
    const { request, second } = await hedged(queue, clock);

    await db.transaction((tx) => queue.cancel(tx, [request.id]));
    await queue.lookAfterHedges();

    expect(
      await queue.heartbeat({ worker: large, leases: [second], draining: false }),
    ).toMatchObject({
      cancelled: [second],
    });
    await queue.finish({ lease: second, ...done });
    await queue.lookAfterHedges();
    expect(finished.filter(({ id }) => id === request.id)).toEqual([]);
  });
});
