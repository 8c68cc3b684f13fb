import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { TrustDomain } from "#core/trust-domain.ts";
import { aRequest, aWorker, movableClock, never, silent } from "#execution/execution.fixture.ts";
import type { ExecutionId } from "#execution/execution.ts";
import type { LeasedExecution } from "#execution/leasing/lease.ts";
import { openExecutionQueue } from "#execution/open-execution-queue.ts";
import { readAttempts } from "#execution/read-executions.store.ts";
import { decisionsOf } from "#execution/sizing/size-decision.store.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { sizeClassAnalyzer } from "./analyzer.ts";
import { nameOf, readHistories } from "./key-history.store.ts";
import { learning } from "./learning.ts";
import { noteObservations } from "./observation.store.ts";
import { SizeClassSettings } from "./settings.ts";
import type { OfferedClass } from "./strategy.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() =>
  db.script(
    "truncate execution, worker, size_class_key, size_class_history, size_class_lesson cascade",
  ),
);
const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.stop();
});

const gibibyte = 1024 ** 3;
const classes: readonly OfferedClass[] = [1, 2, 4].map((sizeClass) => ({
  sizeClass,
  cpus: sizeClass,
  memoryBytes: 4 * gibibyte * sizeClass,
  price: sizeClass,
  waitMs: 0,
}));
const workers = classes.map(({ sizeClass }) => aWorker(`w${sizeClass}`, { sizeClass }));

/** A server with real statistics; the test defines its workers. */
async function aFarm(parts: {
  strategy: SizeClassSettings["strategy"];
  offered?: readonly OfferedClass[];
}) {
  const clock = movableClock();
  const offers = { for: () => parts.offered ?? classes, freshen: async () => {}, ageMs: () => 0 };
  const settings = SizeClassSettings.parse({ strategy: parts.strategy });
  const observations = learning({ db, logger: silent, offers });
  open.push(observations);
  const finished: string[] = [];
  const queue = await openExecutionQueue({
    db,
    clock,
    logger: silent,
    hooks: {
      async onFinished(tx, some) {
        await noteObservations(
          tx,
          some.map(({ id }) => id),
        );
        finished.push(...some.map(({ outcome }) => outcome));
        return undefined;
      },
    },
    analyzer: sizeClassAnalyzer({ db, clock, logger: silent, offers, settings: () => settings }),
    times: { graceMs: 0, rescueEveryMs: 3_600_000, sweepEveryMs: 3_600_000, pollMs: 3_600_000 },
  });
  open.push(queue);
  for (const worker of workers) await queue.register(worker);

  /** Claims with any worker that may take it, the smallest class first; returns the worker. */
  const claimAny = async (): Promise<LeasedExecution & { readonly sizeClass: number }> => {
    for (const worker of workers) {
      const [execution] = await queue.claim(worker, 1, 0, never);
      if (execution !== undefined) return { ...execution, sizeClass: worker.sizeClass };
    }
    throw new Error("nothing to claim");
  };
  /** Runs a submitted execution until its end: `comes` returns the result of a run on a class. */
  const run = async (
    comes: (sizeClass: number) => {
      readonly outcome: "succeeded" | "failed" | "out_of_memory";
      readonly ms: number;
    },
    request = aRequest({ similarityKeys: ["a.one", "m.compile"], title: "Compile //one" }),
  ) => {
    await queue.submit(request);
    const over = finished.length;
    const ranOn: number[] = [];
    while (finished.length === over) {
      const { lease, sizeClass, timeoutMs } = await claimAny();
      ranOn.push(sizeClass);
      const { outcome, ms } = comes(sizeClass);
      await queue.started(lease, clock.now());
      clock.pass(Math.min(ms, timeoutMs));
      await queue.finish({
        lease,
        outcome: ms > timeoutMs ? "timed_out" : outcome,
        exitCode: outcome === "succeeded" ? 0 : 1,
        result: new Uint8Array(),
        usage: { userMs: ms, systemMs: 0, peakMemoryBytes: 1e8, measuredBy: "proc" },
      });
    }
    await observations.learnNow();
    return { id: request.id, ranOn, outcome: finished.at(-1) };
  };
  return { clock, queue, run, observations };
}

const historyOf = async (key: string) =>
  (await readHistories(db, [{ project: "p", domain: "protected", key }])).values().next().value;

test("a run is stored under each of its names, with its resources", async () => {
  const { run } = await aFarm({ strategy: "smallest" });

  await run(() => ({ outcome: "succeeded", ms: 2_000 }));
  await run(() => ({ outcome: "succeeded", ms: 3_000 }));

  for (const key of ["a.one", "m.compile"]) {
    expect((await historyOf(key))?.runs.get(1)).toMatchObject([
      { end: "succeeded", durationMs: 2_000, cpuMs: 2_000, peakMemoryBytes: 1e8 },
      { end: "succeeded", durationMs: 3_000 },
    ]);
  }
});

test("a failure on a smaller class is retried on the largest; a failure there is the action's own", async () => {
  const { run } = await aFarm({ strategy: "smallest" });

  const { id, ranOn, outcome } = await run(() => ({ outcome: "failed", ms: 1_000 }));

  expect({ ranOn, outcome }).toEqual({ ranOn: [1, 4], outcome: "failed" });
  expect(await readAttempts(db, id)).toHaveLength(2);
  const history = await historyOf("a.one");
  expect(history?.runs.get(1)).toBeUndefined();
  expect(history).toMatchObject({ failuresInARow: 1 });
  expect(history?.lastFailureAt).toBeDefined();
});

test("out of memory on a smaller class is learned, and the client gets only the success", async () => {
  const { run } = await aFarm({ strategy: "smallest" });

  const { ranOn, outcome } = await run((sizeClass) => ({
    outcome: sizeClass === 1 ? "out_of_memory" : "succeeded",
    ms: 1_000,
  }));

  expect({ ranOn, outcome }).toEqual({ ranOn: [1, 4], outcome: "succeeded" });
  const history = await historyOf("a.one");
  expect(history?.runs.get(1)).toMatchObject([{ end: "out_of_memory" }]);
  expect(history?.runs.get(4)).toMatchObject([{ end: "succeeded" }]);
});

test("a background run is requested after a success on the largest class, and is learned", async () => {
  const { run, queue, observations } = await aFarm({ strategy: "pagerank" });
  // Untried classes come first; then all have results that count.
  for (let i = 0; i < 8; i++) await run(() => ({ outcome: "succeeded", ms: 20_000 }));
  let background = 0;
  for (let i = 0; i < 40 && background === 0; i++) {
    await run(() => ({ outcome: "succeeded", ms: 20_000 })).catch(() => {});
    for (const worker of workers) {
      for (const { lease } of await queue.claim(worker, 10, 0, never)) {
        background++;
        await queue.finish({ lease, outcome: "succeeded", exitCode: 0, result: new Uint8Array() });
      }
    }
  }
  await observations.learnNow();

  expect(background).toBeGreaterThan(0);
});

test("a pull request uses what main has learned, and its own results are only for itself", async () => {
  const { run } = await aFarm({ strategy: "grange" });
  const domain = TrustDomain.parse("pr/7@a/b");
  const needsMuch = (sizeClass: number) => ({
    outcome: sizeClass < 4 ? ("out_of_memory" as const) : ("succeeded" as const),
    ms: 1_000,
  });
  const [known, unknown] = [["a.known"], ["a.unknown"]];
  for (let i = 0; i < 4; i++) await run(needsMuch, aRequest({ similarityKeys: known }));

  const { ranOn } = await run(needsMuch, aRequest({ similarityKeys: known, domain }));
  await run(needsMuch, aRequest({ similarityKeys: unknown, domain }));
  const ofMain = await run(needsMuch, aRequest({ similarityKeys: unknown }));
  const again = await run(needsMuch, aRequest({ similarityKeys: unknown, domain }));

  expect(ranOn[0]).toBeGreaterThan(1);
  // The main domain does not see the results of the pull request.
  expect(ofMain.ranOn[0]).toBe(1);
  expect(again.ranOn[0]).toBeGreaterThan(1);
  const names = ["protected", domain].map((each) => ({
    project: "p",
    domain: each,
    key: "a.known",
  }));
  const histories = await readHistories(db, names);
  expect(histories.get(nameOf({ project: "p", domain, key: "a.known" }))?.runs.get(4)).toHaveLength(
    1,
  );
  expect(await historyOf("a.known")).toMatchObject({ failuresInARow: 0 });
});

describe("the choice", () => {
  test("is stored with the known facts, and is the same for the same execution", async () => {
    const { run } = await aFarm({ strategy: "grange" });

    const { id } = await run(() => ({ outcome: "succeeded", ms: 2_000 }));

    const [decision] = await decisionsOf(db, id);
    expect(decision).toMatchObject({
      number: 1,
      purpose: "first",
      key: "a.one",
      strategy: "grange",
    });
    expect(decision?.alternatives.map((each) => each["sizeClass"])).toEqual([1, 2, 4]);
    expect(decision?.reason["text"]).not.toBe("");
  });

  test("stays within the requested limits", async () => {
    const { run } = await aFarm({ strategy: "largest" });

    const { ranOn } = await run(
      () => ({ outcome: "succeeded", ms: 1_000 }),
      aRequest({ similarityKeys: ["a.two"], mostSizeClass: 2 }),
    );

    expect(ranOn).toEqual([2]);
  });

  test("is not made with one class, or without any known class", async () => {
    for (const offered of [classes.slice(0, 1), []]) {
      const { run } = await aFarm({ strategy: "largest", offered });
      const { id, ranOn } = await run(() => ({ outcome: "succeeded", ms: 1_000 }));
      expect(ranOn).toEqual([1]);
      expect(await decisionsOf(db, id)).toEqual([]);
    }
  });

  test("is made without statistics when they cannot be read", async () => {
    const { queue } = await aFarm({ strategy: "grange" });
    const request = aRequest({ similarityKeys: ["a.one"] });
    await db.script("alter table size_class_key rename to size_class_key_away");
    try {
      await queue.submit(request);
    } finally {
      await db.script("alter table size_class_key_away rename to size_class_key");
    }

    expect(await decisionsOf(db, request.id)).toMatchObject([
      { reason: { kind: "no-statistics" } },
    ]);
  });
});

test("another server uses what one server has learned", async () => {
  const { run } = await aFarm({ strategy: "grange" });
  const needsMemory = (sizeClass: number) => ({
    outcome: sizeClass === 1 ? ("out_of_memory" as const) : ("succeeded" as const),
    ms: 1_000,
  });
  const first = await run(needsMemory);
  for (const each of open.splice(0).toReversed()) await each.stop();

  const next = await aFarm({ strategy: "grange" });
  const second = await next.run(needsMemory);

  expect(first.ranOn[0]).toBe(1);
  expect(second.ranOn).toHaveLength(1);
  expect(second.ranOn[0]).toBeGreaterThan(1);
});

test("executions that their clients cancelled are not learned, whether they wait or run", async () => {
  const { queue, observations } = await aFarm({ strategy: "smallest" });
  const cancel = async (id: ExecutionId) =>
    (await queue.transaction((tx) => queue.cancel(tx, [id])))();
  const [waiting, running] = [
    aRequest({ similarityKeys: ["a.given-up"] }),
    aRequest({ similarityKeys: ["a.given-up"] }),
  ];
  await queue.submit(waiting);
  await cancel(waiting.id);
  await queue.submit(running);
  const [execution] = await queue.claim(workers[0] as (typeof workers)[number], 1, 1_000, never);
  await cancel(running.id);
  if (execution === undefined) throw new Error("nothing to claim");
  const { lease } = execution;
  await queue.finish({ lease, outcome: "cancelled", exitCode: 137, result: new Uint8Array() });

  await observations.learnNow();

  expect((await historyOf("a.given-up"))?.runs.size ?? 0).toBe(0);
});

test("two servers that learn at once lose nothing", async () => {
  const [one, two] = [await aFarm({ strategy: "smallest" }), await aFarm({ strategy: "smallest" })];
  const ends = async ({ queue }: typeof one, count: number) => {
    for (let i = 0; i < count; i++) {
      await queue.submit(aRequest({ similarityKeys: ["a.same"] }));
      const [execution] = await queue.claim(
        workers[0] as (typeof workers)[number],
        1,
        1_000,
        never,
      );
      if (execution === undefined) throw new Error("nothing to claim");
      const { lease } = execution;
      await queue.finish({ lease, outcome: "succeeded", exitCode: 0, result: new Uint8Array() });
    }
  };
  await ends(one, 10);
  await ends(two, 10);

  await Promise.all([
    one.observations.learnNow(),
    two.observations.learnNow(),
    one.observations.learnNow(),
  ]);
  await one.observations.learnNow();

  expect((await historyOf("a.same"))?.runs.get(1)).toHaveLength(20);
});

test("the last 32 runs of each class are stored", async () => {
  const { run } = await aFarm({ strategy: "smallest" });

  for (let ms = 1; ms <= 40; ms++) await run(() => ({ outcome: "succeeded", ms: ms * 1_000 }));

  const runs = (await historyOf("a.one"))?.runs.get(1);
  expect(runs).toHaveLength(32);
  expect(runs?.[0]).toMatchObject({ durationMs: 9_000 });
  expect(runs?.at(-1)).toMatchObject({ durationMs: 40_000 });
});
