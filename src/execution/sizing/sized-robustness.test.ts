import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { queuePosition } from "../claiming/queue-position.store.ts";
import { actionDigest, aRequest, aWorker, movableClock, never } from "../execution.fixture.ts";
import { openTestQueues } from "../execution-queue.fixture.ts";
import type { ExecutionQueue } from "../execution-queue.ts";
import type { LeasedExecution } from "../leasing/lease.ts";
import { defaultTimes } from "../queue-times.ts";
import { readAttempts } from "../read-executions.store.ts";
import { dropChosenSizes, staleBackgroundRuns } from "../submitting/drop-chosen-sizes.store.ts";
import { countDurations } from "./expected-duration.store.ts";
import { queuedDemand } from "./size-class-demand.store.ts";
import { queuedWork } from "./size-class-offers.store.ts";
import type { Analyzer, ChosenSize } from "./size-class-roles.ts";
import { spillToIdleClass } from "./size-class-spillover.store.ts";
import { decisionsOf } from "./size-decision.store.ts";
import { analyzer, chosen, final } from "./sized.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());
const queues = openTestQueues(db);
const { finished } = queues;
beforeEach(() => db.script("truncate execution, worker, expected_duration cascade"));
afterEach(() => queues.closeAll());

const small = aWorker("small", { sizeClass: 1 });
const middle = aWorker("middle", { sizeClass: 2 });
const large = aWorker("large", { sizeClass: 4 });
const done = { outcome: "succeeded", exitCode: 0, result: new Uint8Array([1]) } as const;

async function open(parts: Parameters<typeof queues.open>[0] = {}): Promise<ExecutionQueue> {
  const queue = await queues.open(parts);
  for (const worker of [small, middle, large]) await queue.register(worker);
  return queue;
}

async function only(queue: ExecutionQueue, worker: typeof small): Promise<LeasedExecution> {
  const [execution, ...more] = await queue.claim(worker, 2, 0, never);
  if (execution === undefined) throw new Error(`nothing for ${worker.name}`);
  expect(more).toEqual([]);
  return execution;
}

async function one<Row extends z.ZodType>(row: Row, statement: Parameters<Db["many"]>[1]) {
  const [found] = await db.many(row, statement);
  if (found === undefined) throw new Error("no row");
  return found;
}
const finishedBy = (name: string) =>
  one(
    z.object({ count: z.number() }),
    sql`select finished_count as count from worker where name = ${name}`,
  ).then(({ count }) => count);

describe("a faulty analyzer", () => {
  const broken = (): never => {
    throw new Error("a strategy divided by nothing");
  };

  test("does not prevent submissions", async () => {
    for (const sizing of [
      { ...analyzer(chosen(1)), analyze: async () => broken() },
      { ...analyzer(chosen(1)), analyze: async () => [{ select: broken }] },
    ] satisfies Analyzer[]) {
      const queue = await open({ analyzer: sizing });
      const { executionId } = await queue.submit(aRequest());
      expect(await decisionsOf(db, executionId)).toEqual([]);
      const { lease } = await only(queue, small);
      await queue.finish({ lease, ...done });
    }
  });

  test("does not prevent that an end is announced, neither of its own execution nor of another", async () => {
    for (const learner of [async () => broken(), async () => ({ ended: broken })]) {
      const queue = await open({ analyzer: { ...analyzer(chosen(1)), learner } });
      await queue.submit(aRequest());
      const { lease } = await only(queue, small);

      expect(await queue.finish({ lease, outcome: "failed", exitCode: 1 })).toBe("accepted");
    }
    expect(finished).toMatchObject([{ outcome: "failed" }, { outcome: "failed" }]);
  });

  test.each([
    ["numbers that are none", { timeoutMs: NaN, expectedDurationMs: Infinity }],
    ["half milliseconds", { timeoutMs: 1.5, expectedDurationMs: 0.3 }],
    ["a timeout above the one asked for", { timeoutMs: 1e12 }],
    ["a hedge beyond the greatest", { hedge: { afterMs: 1, sizeClass: 8 } }],
    ["a hedge on the same class", { hedge: { afterMs: 1, sizeClass: 1 } }],
    ["a hedge after no time", { hedge: { afterMs: NaN, sizeClass: 2 } }],
  ])("that chooses %s: valid values are stored", async (_, changes) => {
    const wrong = chosen(1, changes);
    const again = analyzer(wrong, ({ outcome }) =>
      outcome === "failed" ? { kind: "again", chosen: wrong } : final,
    );
    const queue = await open({ analyzer: again });
    await queue.submit(aRequest({ mostSizeClass: 4, timeoutMs: 60_000 }));

    const first = await only(queue, small);
    expect(first.timeoutMs).toBeLessThanOrEqual(60_000);
    await queue.started(first.lease, new Date());
    await queue.lookAfterHedges();
    await queue.finish({ lease: first.lease, outcome: "failed", exitCode: 1 });
    const second = await only(queue, small);
    expect(second.timeoutMs).toBeLessThanOrEqual(60_000);
    await queue.finish({ lease: second.lease, ...done });

    expect(finished).toMatchObject([{ outcome: "succeeded" }]);
  });

  test("that chooses a class outside of the requested bounds: the bounds count, and the end is announced", async () => {
    const sizing = analyzer(chosen(4), () => ({ kind: "again", chosen: chosen(4) }));
    const queue = await open({ analyzer: sizing });
    await queue.submit(aRequest({ mostSizeClass: 2, sizeClass: 2 }));
    const { lease } = await only(queue, middle);

    expect(await queue.finish({ lease, outcome: "failed", exitCode: 1 })).toBe("accepted");
    expect(finished).toMatchObject([{ outcome: "failed" }]);
  });
});

test("a title that is too long is cut, and the execution is accepted", async () => {
  const queue = await open();
  await queue.submit(aRequest({ title: `${"CppCompile".repeat(20)} //${"x".repeat(1_024)}\0` }));

  expect(await queue.claim(small, 1, 0, never)).toHaveLength(1);
});

test("an invalid greatest class is refused, and does not disturb the claims of workers", async () => {
  const queue = await open();
  for (const mostSizeClass of [1.5, NaN, 0, 2_000_000])
    await expect(queue.submit(aRequest({ mostSizeClass }))).rejects.toMatchObject({
      code: "invalid_argument",
    });
  const hostile = aRequest();
  await queue.submit(hostile);
  // As stored by an older version, which treated the property like any other.
  await db.run(sql`
    update execution set requirements = '{"OSFamily":"linux","max-size-class":"a lot"}'
    where id = ${hostile.id}`);
  const usual = aRequest();
  await queue.submit(usual);

  expect((await only(queue, small)).lease.executionId).toBe(usual.id);
});

test("lost workers use attempts, even if each next worker has another class", async () => {
  const again = analyzer(chosen(1), () => ({ kind: "again", chosen: chosen(1) }));
  const clock = movableClock();
  const queue = await open({ analyzer: again, clock, times: { mostAttempts: 3 } });
  await queue.submit(aRequest());

  let lost = 0;
  for (; finished.length === 0 && lost < 20; lost++) {
    const { lease } = await only(queue, small);
    await queue.started(lease, clock.now());
    clock.pass(24 * 3_600_000);
    await queue.rescue();
  }

  expect(lost).toBe(3);
  expect(finished).toMatchObject([{ outcome: "worker_lost" }]);
});

test("a run has the class of the process that executed it, not of another process with its name", async () => {
  const sizing = analyzer(chosen(2));
  const queue = await open({ analyzer: sizing });
  const request = aRequest();
  await queue.submit(request);
  const { lease } = await only(queue, middle);
  await queue.started(lease, new Date());

  await queue.register(aWorker("middle", { sizeClass: 4 }));

  expect(sizing.heard).toMatchObject([{ outcome: "worker_lost", sizeClass: 2 }]);
});

describe("runs in the background", () => {
  const teaching = (most = 10) =>
    analyzer(chosen(4), ({ sizeClass }) =>
      sizeClass === 4
        ? { kind: "final", background: { chosen: chosen(4), mostWaiting: most } }
        : final,
    );

  test("come after all executions that clients wait for, however long they have waited", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: teaching(), clock });
    await queue.submit(aRequest());
    await queue.finish({ lease: (await only(queue, large)).lease, ...done });
    clock.pass(60 * 24 * 3_600_000);
    for (const worker of [small, middle, large]) await queue.register(worker);
    const plain = await open({ clock });
    const usual = aRequest({ sizeClass: 1, priority: 10_000 });
    await plain.submit(usual);

    const [next] = await plain.claim(large, 1, 0, never);
    expect(next?.lease.executionId).toBe(usual.id);
    const [last] = await plain.claim(large, 1, 0, never);
    expect(last).toBeDefined();
  });

  test("do not exceed the limit of waiting runs, also when several executions end together", async () => {
    const queue = await open({ analyzer: teaching(2) });
    for (let i = 0; i < 6; i++) await queue.submit(aRequest());
    const leased = await queue.claim(large, 6, 0, never);

    await Promise.all(leased.map(({ lease }) => queue.finish({ lease, ...done })));

    expect(finished).toHaveLength(6);
    expect(await queue.claim(large, 10, 0, never)).toHaveLength(2);
  });

  test("of an action with the longest requirements do not prevent its end", async () => {
    const platform = { OSFamily: "linux", a: "x".repeat(950), b: "x".repeat(980) };
    const big = aWorker("big", { sizeClass: 4, platform });
    const queue = await open({ analyzer: teaching() });
    await queue.register(big);
    await queue.submit(aRequest({ platform }));

    await queue.finish({ lease: (await only(queue, big)).lease, ...done });

    expect(finished).toMatchObject([{ outcome: "succeeded" }]);
    await only(queue, big);
  });

  test("affect no other execution: they add no expected wait, and start no machine", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: teaching(), clock });
    await queue.submit(aRequest());
    await queue.finish({ lease: (await only(queue, large)).lease, ...done });
    clock.pass(24 * 3_600_000);

    const usual = aRequest();
    await (await open({ clock })).submit(usual);
    const position = await db.transaction((tx) =>
      queuePosition(tx, usual.id, clock.now(), defaultTimes),
    );
    expect(position).toMatchObject({ kind: "queued", ahead: { others: 0, sameInvocation: 0 } });
    await only(queue, small);
    expect(await queuedWork(db)).toEqual([]);
    expect(await queuedDemand(db, clock.now())).toEqual([]);
  });

  test("that no worker had time for are found, and end like executions without clients", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: teaching(), clock });
    await queue.submit(aRequest());
    await queue.finish({ lease: (await only(queue, large)).lease, ...done });
    expect(await staleBackgroundRuns(db, clock.now())).toEqual([]);
    clock.pass(1);

    const after = await queue.transaction(async (tx) =>
      queue.cancel(tx, await staleBackgroundRuns(tx, clock.now())),
    );
    after();

    expect(finished.map(({ outcome }) => outcome)).toEqual(["succeeded", "cancelled"]);
  });
});

describe("second runs", () => {
  const hedging = (changes = {}) =>
    analyzer(chosen(1, { hedge: { afterMs: 3_000, sizeClass: 4 }, timeoutMs: 60_000, ...changes }));

  async function hedged(
    queue: ExecutionQueue,
    clock: ReturnType<typeof movableClock>,
    request = aRequest(),
  ) {
    await queue.submit(request);
    const first = await only(queue, small);
    await queue.started(first.lease, clock.now());
    clock.pass(3_000);
    await queue.lookAfterHedges();
    const second = await only(queue, large);
    await queue.started(second.lease, clock.now());
    return { request, first: first.lease, second: second.lease };
  }
  const endsOf = (id: string) => finished.filter((each) => each.id === id);

  test("are not made when a greater class already runs the execution", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: hedging({ isExact: false }), clock });
    await queue.submit(aRequest());
    const { lease } = await only(queue, large);
    await queue.started(lease, clock.now());
    clock.pass(60_000);
    await queue.lookAfterHedges();

    expect(await queue.claim(large, 1, 0, never)).toEqual([]);
    expect(await decisionsOf(db, lease.executionId)).toHaveLength(1);
  });

  test("whose end counts are counted once, for their worker and not for the other", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: hedging(), clock });
    const { second } = await hedged(queue, clock);

    await queue.finish({ lease: second, ...done });
    await queue.lookAfterHedges();

    expect(await finishedBy("large")).toBe(1);
    expect(await finishedBy("small")).toBe(0);
  });

  test("change the expected duration once; runs in the background do not", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: hedging(), clock });
    const { second } = await hedged(queue, clock, aRequest({ similarityKeys: ["a.kin"] }));
    clock.pass(1_000);
    await queue.finish({ lease: second, ...done });
    await queue.lookAfterHedges();
    const background = aRequest({ similarityKeys: ["a.kin"], owner: "background-learning" });
    await (await open({ clock })).submit(background);
    await queue.finish({ lease: (await only(queue, small)).lease, ...done });
    clock.pass(60_000);
    while (await countDurations(db, clock.now()));

    const { samples } = await one(
      z.object({ samples: z.number() }),
      sql`select samples::integer from expected_duration where kin = 'a.kin'`,
    );
    expect(samples).toBe(1);
  });

  test("continue on another worker when theirs is lost, and end with the first run", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: hedging(), clock });
    const { request, first, second } = await hedged(queue, clock);
    await queue.finish({ lease: second, outcome: "infrastructure_error" });
    await queue.lookAfterHedges();

    const again = await only(queue, large);
    expect(again.lease).toMatchObject({ executionId: second.executionId, attempt: 2 });
    await queue.finish({ lease: again.lease, ...done });
    await queue.lookAfterHedges();

    expect(endsOf(request.id)).toMatchObject([{ outcome: "succeeded", worker: "large" }]);
    expect(await queue.finish({ lease: first, ...done })).toBe("refused");
  });

  test("that wait end with the first run, and are assigned to no worker", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: hedging(), clock });
    await queue.submit(aRequest());
    const { lease } = await only(queue, small);
    await queue.started(lease, clock.now());
    clock.pass(3_000);
    await queue.lookAfterHedges();
    await queue.finish({ lease, ...done });
    await queue.lookAfterHedges();

    expect(await queue.claim(large, 1, 0, never)).toEqual([]);
    expect(endsOf(lease.executionId)).toHaveLength(1);
  });

  test("give their result once to requests that joined the first run, and cannot be joined", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: hedging(), clock });
    const digest = actionDigest("the same");
    const { request, second } = await hedged(queue, clock, aRequest({ actionDigest: digest }));

    const joined = await queue.submit(aRequest({ actionDigest: digest }));
    expect(joined).toMatchObject({ executionId: request.id, isNew: false });
    await queue.finish({ lease: second, ...done });
    const late = await queue.submit(aRequest({ actionDigest: digest }));
    expect(late).toMatchObject({ executionId: request.id, isNew: false });
    await queue.lookAfterHedges();

    expect(endsOf(request.id)).toMatchObject([{ outcome: "succeeded", doNotCache: false }]);
  });

  test("one whose end cannot be stored does not prevent that of others", async () => {
    const clock = movableClock();
    let poisoned: string | undefined;
    const queue = await open({
      analyzer: hedging(),
      clock,
      hooks: {
        async onFinished(_tx, some) {
          if (some.some(({ id }) => id === poisoned)) throw new Error("a hook that fails");
          return () => void finished.push(...some);
        },
      },
    });
    const ones = [await hedged(queue, clock), await hedged(queue, clock)];
    poisoned = ones[0]?.request.id;
    for (const { second } of ones) await queue.finish({ lease: second, ...done });

    await queue.lookAfterHedges();
    expect(endsOf(ones[1]?.request.id ?? "")).toHaveLength(1);
    expect(endsOf(ones[0]?.request.id ?? "")).toHaveLength(0);
    poisoned = undefined;
    await queue.lookAfterHedges();
    expect(endsOf(ones[0]?.request.id ?? "")).toHaveLength(1);
  });

  test("that end while the first run is assigned again leave no attempt without an end", async () => {
    const clock = movableClock();
    const queues = [await open({ analyzer: hedging(), clock }), await open({ clock })] as const;
    for (let round = 0; round < 8; round++) {
      const { request, first, second } = await hedged(queues[0], clock);
      await queues[0].finish({ lease: first, outcome: "infrastructure_error" });
      await queues[0].finish({ lease: second, ...done });

      await Promise.all([queues[0].lookAfterHedges(), queues[1].claim(small, 1, 0, never)]);
      await queues[1].lookAfterHedges();

      const [end, ...more] = endsOf(request.id);
      expect(more).toEqual([]);
      const attempts = await readAttempts(db, request.id);
      expect(attempts.map(({ attempt }) => attempt)).toEqual(
        Array.from({ length: end?.attempt ?? 0 }, (_, i) => i + 1),
      );
    }
  });

  test("begin even if an older version stored a decision that cannot be read", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: hedging(), clock });
    const request = aRequest();
    await queue.submit(request);
    await db.run(sql`
      update size_class_decision set alternatives = '{"odd": 1}' where execution_id = ${request.id}`);
    const { lease } = await only(queue, small);
    await queue.started(lease, clock.now());
    clock.pass(3_000);
    await queue.lookAfterHedges();

    expect(await queue.claim(large, 1, 0, never)).toHaveLength(1);
  });
});

describe("an execution that waits for a class without workers", () => {
  const soon = (clock: ReturnType<typeof movableClock>) => new Date(clock.now().getTime() - 60_000);

  test("runs on any requested class after a while, with the requested timeout", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: analyzer(chosen(4)), clock });
    const request = aRequest();
    await queue.submit(request);
    await db.run(sql`update worker set last_seen_at = ${clock.now()}`);
    expect(await queue.transaction((tx) => dropChosenSizes(tx, soon(clock), []))).toBe(0);

    clock.pass(120_000);
    await db.run(sql`update worker set last_seen_at = ${clock.now()} where size_class < 4`);
    expect(
      await queue.transaction((tx) =>
        dropChosenSizes(tx, soon(clock), [{ platform: small.platform, sizeClass: 4, workers: 0 }]),
      ),
    ).toBe(0);
    expect(await queue.transaction((tx) => dropChosenSizes(tx, soon(clock), []))).toBe(1);
    expect(await queue.transaction((tx) => dropChosenSizes(tx, soon(clock), []))).toBe(0);

    expect(await only(queue, small)).toMatchObject({
      lease: { executionId: request.id },
      timeoutMs: 60_000,
    });
  });

  test("stays within the classes that its client requested", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: analyzer(chosen(4)), clock });
    await queue.submit(aRequest({ sizeClass: 2, mostSizeClass: 4 }));
    const pinned = aRequest({ sizeClass: 4, mostSizeClass: 4 });
    await queue.submit(pinned);
    clock.pass(120_000);
    await db.run(sql`update worker set last_seen_at = ${clock.now()} where size_class < 4`);

    await queue.transaction((tx) => dropChosenSizes(tx, soon(clock), []));

    expect(await queue.claim(small, 5, 0, never)).toEqual([]);
    expect(await queue.claim(middle, 5, 0, never)).toHaveLength(1);
  });
});

describe("an execution that waits for a greater class longer than expected", () => {
  /** Chosen for class 4, where a wait was expected; class 2 would be risky. */
  const waiting = (changes: Partial<ChosenSize["decision"]> = {}) => {
    const choice = chosen(4);
    const alternatives = [
      { sizeClass: 1, risk: 0.01, waitMs: 0 },
      { sizeClass: 2, risk: 0.9, waitMs: 0 },
      { sizeClass: 4, risk: 0, waitMs: 8_000 },
    ];
    return {
      ...choice,
      decision: { ...choice.decision, strategy: "grange", alternatives, ...changes },
    };
  };
  const longAgo = new Date(0);

  test("runs on an idle smaller class on which it probably succeeds, with the requested timeout", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: analyzer(waiting()), clock });
    const request = aRequest();
    await queue.submit(request);
    await db.run(sql`update worker set last_seen_at = to_timestamp(0) where size_class = 2`);
    const spill = () => queue.transaction((tx) => spillToIdleClass(tx, clock.now(), new Date(1)));
    expect(await spill()).toBe(0);
    clock.pass(15_000);
    expect(await spill()).toBe(0);
    clock.pass(2_000);

    expect(await spill()).toBe(1);

    expect(await only(queue, small)).toMatchObject({
      lease: { executionId: request.id },
      timeoutMs: 60_000,
    });
  });

  test("keeps waiting when the idle class is too risky or outside of its bounds, or when another strategy chose", async () => {
    const clock = movableClock();
    const risky = await open({ analyzer: analyzer(waiting()), clock });
    await risky.submit(aRequest());
    const other = await queues.open({ analyzer: analyzer(waiting({ strategy: "adr" })), clock });
    await other.submit(aRequest());
    const bound = await queues.open({ analyzer: analyzer(waiting({ alternatives: [] })), clock });
    await bound.submit(aRequest({ sizeClass: 4 }));
    clock.pass(60_000);

    // No worker of class 1 is free, so class 2 would be next.
    await db.run(sql`update worker set last_seen_at = to_timestamp(0) where size_class <> 2`);

    expect(await risky.transaction((tx) => spillToIdleClass(tx, clock.now(), new Date(1)))).toBe(0);
  });

  test("is assigned to free slots only, and only once", async () => {
    const clock = movableClock();
    const queue = await open({ analyzer: analyzer(waiting({ alternatives: [] })), clock });
    for (let i = 0; i < 5; i++) await queue.submit(aRequest());
    clock.pass(60_000);
    const [one, two] = await Promise.all(
      [1, 2].map(() => queue.transaction((tx) => spillToIdleClass(tx, clock.now(), longAgo))),
    );

    // A slot of class 2, and none of class 4, which is not smaller.
    expect(one).toBeGreaterThan(0);
    expect((one ?? 0) + (two ?? 0)).toBeLessThanOrEqual(3);
  });
});
