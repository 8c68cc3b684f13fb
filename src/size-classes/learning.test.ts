import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { sql } from "#db/sql.ts";
import {
  aQueue,
  aRequest,
  aWorker,
  movableClock,
  never,
  silent,
} from "#execution/execution.fixture.ts";
import type { ExecutionRequest } from "#execution/execution.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import { analyzer, chosen } from "#execution/sizing/sized.fixture.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ResourceUsageSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { sizeClassAnalyzer } from "./analyzer.ts";
import { deleteOldHistories, readHistories } from "./key-history.store.ts";
import { learning } from "./learning.ts";
import { noteObservations } from "./observation.store.ts";
import { defaultSettings } from "./settings.ts";
import type { OfferedClass } from "./strategy.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() =>
  db.script(
    "truncate execution, worker, size_class_key, size_class_history, size_class_lesson cascade",
  ),
);
const opened: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.stop();
});
const keep = <S extends { stop(): Promise<void> }>(service: S): S => {
  opened.push(service);
  return service;
};

const small = aWorker("small", { sizeClass: 1 });
const large = aWorker("large", { sizeClass: 4 });
const offered: readonly OfferedClass[] = [1, 4].map((sizeClass) => ({
  sizeClass,
  cpus: sizeClass,
  memoryBytes: 2 ** 30,
  price: sizeClass,
  waitMs: 0,
}));
const offers = { for: () => offered, freshen: async () => {}, ageMs: () => 0 };
const observations = () => keep(learning({ db, logger: silent, offers }));

async function aTeachingQueue(parts: Parameters<typeof aQueue>[1] = {}): Promise<ExecutionQueue> {
  const queue = keep(
    await aQueue(db, {
      hooks: {
        async onFinished(tx, some) {
          await noteObservations(
            tx,
            some.map(({ id }) => id),
          );
          return undefined;
        },
      },
      ...parts,
    }),
  );
  for (const worker of [small, large]) await queue.register(worker);
  return queue;
}

async function runOnce(
  queue: ExecutionQueue,
  changes: Partial<ExecutionRequest> = {},
  result: Uint8Array = new Uint8Array(),
) {
  const request = aRequest({ similarityKeys: ["a.one"], ...changes });
  await queue.submit(request);
  const [execution] = await queue.claim(small, 1, 0, never);
  if (execution === undefined) throw new Error("nothing to claim");
  await queue.finish({ lease: execution.lease, outcome: "succeeded", exitCode: 0, result });
  return request.id;
}

const historyOf = async (key: string) =>
  (await readHistories(db, [{ project: "p", domain: "protected", key }])).values().next().value;
const observationsLeft = async () =>
  (
    await db.many(
      z.object({ count: z.number() }),
      sql`select count(*)::integer as count from size_class_lesson`,
    )
  )[0]?.count;

describe("one execution that cannot be learned", () => {
  const poison = {
    "requirements that are none": sql`requirements = '[1]'`,
    "a trust domain that nobody knows": sql`domain = 'another version''s'`,
  };

  test.each(Object.entries(poison))("with %s does not block others", async (_, change) => {
    const queue = await aTeachingQueue();
    for (let i = 0; i < 5; i++) await runOnce(queue, { similarityKeys: [`a.${i}`] });
    const poisoned = await runOnce(queue, { similarityKeys: ["a.poisoned"] });
    await db.run(sql`update execution set ${change} where id = ${poisoned}`);
    for (let i = 5; i < 10; i++) await runOnce(queue, { similarityKeys: [`a.${i}`] });

    await observations().learnNow();

    for (let i = 0; i < 10; i++) expect((await historyOf(`a.${i}`))?.runs.get(1)).toHaveLength(1);
    expect(await observationsLeft()).toBe(0);
  });

  test("because the database is unreachable is learned later", async () => {
    const queue = await aTeachingQueue();
    await runOnce(queue);
    const passing = keep(
      learning({
        db: {
          ...db,
          transaction: (work) =>
            db.transaction(async (tx) => {
              await work(tx);
              throw new Fault("unavailable", "away");
            }),
        },
        logger: silent,
        offers,
      }),
    );
    await expect(passing.learnNow()).rejects.toThrow("away");

    await observations().learnNow();

    expect((await historyOf("a.one"))?.runs.get(1)).toHaveLength(1);
  });
});

test("a run by a persistent worker process is not learned: it had no start of its tool", async () => {
  const queue = await aTeachingQueue();
  const usage = create(ResourceUsageSchema, { persistentRequest: 2 });
  const executionMetadata = { auxiliaryMetadata: [anyPack(ResourceUsageSchema, usage)] };
  const result = create(ActionResultSchema, { executionMetadata });
  await runOnce(queue, {}, toBinary(ActionResultSchema, result));
  await runOnce(queue, { similarityKeys: ["a.two"] });

  await observations().learnNow();

  expect(await historyOf("a.one")).toBeUndefined();
  expect((await historyOf("a.two"))?.runs.get(1)).toHaveLength(1);
  expect(await observationsLeft()).toBe(0);
});

test("an invalid result is learned from the farm's own data, and an impossible time counts as the timeout", async () => {
  const queue = await aTeachingQueue();
  await runOnce(queue, { similarityKeys: ["a.odd"] }, Buffer.from([255, 255, 255]));
  const ages = create(ActionResultSchema, {
    executionMetadata: { virtualExecutionDuration: { seconds: 2n ** 62n, nanos: 0 } },
  });
  await runOnce(queue, { similarityKeys: ["a.ages"] }, toBinary(ActionResultSchema, ages));
  const before = create(ActionResultSchema, {
    executionMetadata: { virtualExecutionDuration: { seconds: -5n, nanos: 0 } },
  });
  await runOnce(queue, { similarityKeys: ["a.before"] }, toBinary(ActionResultSchema, before));

  await observations().learnNow();

  expect((await historyOf("a.odd"))?.runs.get(1)).toMatchObject([{ durationMs: 0 }]);
  expect((await historyOf("a.ages"))?.runs.get(1)).toMatchObject([{ durationMs: 60_000 }]);
  expect((await historyOf("a.before"))?.runs.get(1)).toMatchObject([{ durationMs: 0 }]);
});

test("names that are given twice, not at all, or in large numbers are each learned once", async () => {
  const queue = await aTeachingQueue();
  const many = Array.from({ length: 2_000 }, (_, i) => `x.${i}`);
  await runOnce(queue, { similarityKeys: ["a.twice", "a.twice"] });
  await runOnce(queue, { similarityKeys: [] });
  await runOnce(queue, { similarityKeys: many });

  await observations().learnNow();

  expect((await historyOf("a.twice"))?.runs.get(1)).toHaveLength(1);
  expect((await historyOf("x.1999"))?.runs.get(1)).toHaveLength(1);
});

test("ten thousand simultaneous executions are learned, and stop does not wait for all of them", async () => {
  const queue = await aTeachingQueue();
  const first = await runOnce(queue);
  const copies = 10_000;
  await db.script(`
    insert into execution
      select copy.* from execution, generate_series(1, ${copies}) as n,
        jsonb_populate_record(null::execution, to_jsonb(execution) || jsonb_build_object(
          'id', gen_random_uuid(), 'action_digest', lpad(n::text, 64, '0') || '/1')) as copy;
    insert into execution_attempt
      select copy.* from execution, (select * from execution_attempt) as taught,
        jsonb_populate_record(null::execution_attempt, to_jsonb(taught)
          || jsonb_build_object('execution_id', execution.id)) as copy
      where execution.id <> '${first}';
    insert into size_class_lesson select id from execution on conflict do nothing;
  `);

  const stopped = learning({ db, logger: silent, offers });
  const learned = stopped.learnNow();
  await stopped.stop();
  await learned;
  expect(await observationsLeft()).toBeGreaterThan(0);
  await observations().learnNow();

  // On a slow machine, the regular turn of the same service begins meanwhile, and learns the rest.
  await expect.poll(observationsLeft, { timeout: 60_000 }).toBe(0);
  expect((await historyOf("a.one"))?.runs.get(1)).toHaveLength(32);
});

describe("a history from another version", () => {
  const asked = [{ project: "p", domain: "protected", key: "a.one" }];

  async function spoil() {
    await db.run(sql`
      update size_class_history set runs = runs || '[{"end": "exploded"}, 7, null,
        {"end": "succeeded", "durationMs": -1, "timeoutMs": 0, "at": 0}]'`);
    await db.run(sql`update size_class_key set page_rank = '{"1": "much", "4": 0.5}'`);
  }

  test("is read as far as possible, and can be added to", async () => {
    const queue = await aTeachingQueue();
    await runOnce(queue);
    await observations().learnNow();
    await spoil();

    expect((await historyOf("a.one"))?.runs.get(1)).toHaveLength(1);
    expect((await historyOf("a.one"))?.pageRank).toEqual(new Map([[4, 0.5]]));
    await runOnce(queue);
    await observations().learnNow();

    expect((await historyOf("a.one"))?.runs.get(1)).toHaveLength(2);
  });

  test("does not affect other histories", async () => {
    const queue = await aTeachingQueue();
    await runOnce(queue);
    await runOnce(queue, { similarityKeys: ["a.other"] });
    await observations().learnNow();
    await spoil();

    const known = await readHistories(db, [...asked, { ...asked[0], key: "a.other" } as never]);
    expect([...known.values()].map(({ key }) => key).toSorted()).toEqual(["a.one", "a.other"]);
    const sizing = sizeClassAnalyzer({
      db,
      clock: movableClock(),
      logger: silent,
      offers,
      settings: () => defaultSettings,
    });
    const [selector] = await sizing.analyze([aRequest({ similarityKeys: ["a.one", "a.other"] })]);
    expect(selector?.select()?.decision.reason["kind"]).not.toBe("no-statistics");
  });
});

test("a second run that counts is learned once, as an attempt of the first", async () => {
  const clock = movableClock();
  const sizing = analyzer(chosen(1, { hedge: { afterMs: 3_000, sizeClass: 4 } }));
  const queue = await aTeachingQueue({
    clock,
    analyzer: sizing,
    hooks: {
      async onFinished(tx, some) {
        await noteObservations(
          tx,
          some.map(({ id }) => id),
        );
        return undefined;
      },
    },
  });
  await queue.submit(aRequest({ similarityKeys: ["a.one"] }));
  const [first] = await queue.claim(small, 1, 0, never);
  if (first === undefined) throw new Error("nothing to claim");
  await queue.started(first.lease, clock.now());
  clock.pass(3_000);
  await queue.lookAfterHedges();
  const [second] = await queue.claim(large, 1, 0, never);
  if (second === undefined) throw new Error("no second run");
  await queue.finish({
    lease: second.lease,
    outcome: "succeeded",
    exitCode: 0,
    result: new Uint8Array(),
  });
  await queue.lookAfterHedges();

  await observations().learnNow();

  const runs = (await historyOf("a.one"))?.runs;
  expect(runs?.get(4)).toMatchObject([{ end: "succeeded" }]);
  expect(runs?.get(1)).toMatchObject([{ end: "timed_out", durationMs: 3_000, timeoutMs: 3_000 }]);
});

test("observations that arrive during learning do not wait for the next round", async () => {
  const queue = await aTeachingQueue();
  let begun = () => {};
  const underWay = new Promise<void>((resolve) => (begun = resolve));
  let goOn = () => {};
  const held = new Promise<void>((resolve) => (goOn = resolve));
  let turns = 0;
  const slow = keep(
    learning({
      db: {
        ...db,
        transaction: (work) =>
          db.transaction(async (tx) => {
            const answer = await work(tx);
            if (turns++ === 0) {
              begun();
              await held;
            }
            return answer;
          }),
      },
      logger: silent,
      offers,
    }),
  );
  await runOnce(queue, { similarityKeys: ["a.first"] });
  slow.soon();
  await underWay;
  await runOnce(queue, { similarityKeys: ["a.second"] });
  slow.soon();
  await new Promise((resolve) => setTimeout(resolve, 150));
  goOn();

  await expect.poll(async () => (await historyOf("a.second"))?.runs.size).toBe(1);
});

test("unused keys are deleted with all their runs, and others are not", async () => {
  const queue = await aTeachingQueue();
  await runOnce(queue);
  await runOnce(queue, { similarityKeys: ["a.old"] });
  await observations().learnNow();
  await db.run(sql`update size_class_key set last_seen_at = 'epoch' where key = 'a.old'`);

  expect(await deleteOldHistories(db, new Date(1))).toBe(1);

  expect(await historyOf("a.old")).toBeUndefined();
  expect((await historyOf("a.one"))?.runs.get(1)).toHaveLength(1);
  const [left] = await db.many(
    z.object({ count: z.number() }),
    sql`select count(*)::integer as count from size_class_history`,
  );
  expect(left).toEqual({ count: 1 });
});
