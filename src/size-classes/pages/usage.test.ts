import { afterAll, beforeEach, expect, test } from "vitest";
import { SizeClasses, SizeClassKeys } from "#api/size-class.ts";
import { sql } from "#db/sql.ts";
import { aWorker } from "#execution/execution.fixture.ts";
import { registerWorkers } from "#execution/leasing/worker.store.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { declareClass } from "../declared-classes.store.ts";
import { aDeclaredClass, linux } from "../size-classes.fixture.ts";
import { hoursOfClass } from "./hours-of-class.ts";
import { listKeys } from "./list-keys.ts";
import {
  classesForPage,
  hasOldPrices,
  mostExpensiveKeys,
  readClassesNow,
  readUsage,
  tableOf,
} from "./read-classes.ts";
import {
  aDecision,
  aKey,
  anAttempt,
  anEndedExecution,
  atSecond,
} from "./size-class-rows.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() =>
  db.run(sql`truncate execution, worker, size_class, size_class_key, size_class_history cascade`),
);

const now = atSecond(100);

async function read() {
  const classes = await readClassesNow(db, now, 60_000);
  const table = tableOf(classes);
  const usage = await readUsage(db, now, table);
  return { page: SizeClasses.parse(classesForPage(classes, usage)), usage, table };
}

test("classes are shown with workers, load, executions and cost", async () => {
  await registerWorkers(db, [aWorker("w1", { platform: linux, slots: 2 })], now);
  await registerWorkers(
    db,
    [aWorker("w2", { platform: { ...linux, rack: "7" }, sizeClass: 2 })],
    now,
  );
  await registerWorkers(db, [aWorker("gone", { platform: linux, sizeClass: 2 })], atSecond(0));
  await declareClass(db, aDeclaredClass({ sizeClass: 2, cpus: 3, memoryBytes: 8e9, price: 5 }));
  for (const n of [1, 2, 3]) {
    const id = await anEndedExecution(db, { endSecond: 20 + n });
    await anAttempt(db, id, { worker: "w1", from: 10, to: 20 });
  }
  const retried = await anEndedExecution(db, { sizeClass: 2, attempt: 2 });
  await anAttempt(db, retried, { worker: "w1", from: 1, to: 5, outcome: "out_of_memory" });
  await anAttempt(db, retried, { worker: "no-more", attempt: 2, sizeClass: 2, from: 5, to: 9 });

  const { page } = await read();

  expect(page.lately).toMatchObject({ executions: 4, isCut: false });
  // The worker with an additional property belongs to the declared platform.
  expect(page.platforms.map(({ name }) => name)).toEqual(["OSFamily=linux"]);
  expect(page.platforms[0]?.classes).toMatchObject([
    {
      sizeClass: 1,
      isDeclared: false,
      workers: 1,
      slots: 2,
      busy: 0,
      runs: 4,
      executions: 3,
      share: 0.75,
      busySeconds: 34,
    },
    {
      sizeClass: 2,
      isDeclared: true,
      workers: 1,
      silent: 1,
      slots: 1,
      cpus: 3,
      memoryBytes: 8e9,
      price: 5,
      runs: 1,
      executions: 1,
      busySeconds: 4,
      cost: 20,
    },
  ]);
});

test("the saving is the cost on the largest class, measured or estimated, minus the actual cost", async () => {
  const both = [
    { sizeClass: 1, expectedMs: 8_000 },
    { sizeClass: 4, expectedMs: 3_000 },
  ];
  // 8 s at 1 instead of an estimated 3 s at 4: 4 saved.
  const cheap = await anEndedExecution(db);
  await aDecision(db, cheap, { alternatives: both });
  await anAttempt(db, cheap, { from: 2, to: 10 });
  // 6 s at 1 without success, then 5 s at 4 measured: the 6 s are lost.
  const twice = await anEndedExecution(db, { sizeClass: 4, attempt: 2 });
  await aDecision(db, twice, { alternatives: both });
  await aDecision(db, twice, {
    number: 2,
    purpose: "retry",
    sizeClass: 4,
    second: 6,
    alternatives: both,
  });
  await anAttempt(db, twice, { from: 0, to: 6, outcome: "timed_out" });
  await anAttempt(db, twice, { attempt: 2, sizeClass: 4, from: 6, to: 11 });
  // The saving is unknown.
  const unknown = await anEndedExecution(db);
  await aDecision(db, unknown, { alternatives: [{ sizeClass: 1 }, { sizeClass: 4 }] });
  await anAttempt(db, unknown);
  // In the background: 2 s at 4, without a client.
  const background = await anEndedExecution(db, { sizeClass: 4 });
  await aDecision(db, background, { purpose: "background", sizeClass: 4, alternatives: both });
  await anAttempt(db, background, { sizeClass: 4, from: 2, to: 4 });

  const { page } = await read();

  expect(page.platforms[0]?.classes).toMatchObject([
    { sizeClass: 1, saved: { amount: -2, executions: 2, unknown: 1 } },
    { sizeClass: 4, saved: { amount: -8, executions: 1, unknown: 0 } },
  ]);
  expect(page.saved).toEqual({ amount: -10, executions: 3, unknown: 1 });
});

test("sums have old prices after others are declared", async () => {
  await registerWorkers(db, [aWorker("w1", { platform: linux })], now);
  const id = await anEndedExecution(db);
  await anAttempt(db, id, { worker: "w1" });
  const { table, usage } = await read();

  await declareClass(db, aDeclaredClass({ sizeClass: 1, price: 5 }));
  const { table: dearer } = await read();

  expect([hasOldPrices(table, usage), hasOldPrices(dearer, usage)]).toEqual([false, true]);
});

test("an execution that ends earlier than expected has not saved the expected amount", async () => {
  // It hung once, so that this duration was expected on both. It took 2 s at 1; at 4 it would have taken the same.
  const id = await anEndedExecution(db);
  await aDecision(db, id, {
    alternatives: [
      { sizeClass: 1, expectedMs: 90_000 },
      { sizeClass: 4, expectedMs: 90_000 },
    ],
  });
  await anAttempt(db, id, { from: 2, to: 4 });

  const { page } = await read();

  expect(page.saved).toEqual({ amount: 4 * 2 - 2, executions: 1, unknown: 0 });
});

test("a second run counts in the cost, once, also when it wins", async () => {
  const id = await anEndedExecution(db, { attempt: 2 });
  await aDecision(db, id, {
    alternatives: [
      { sizeClass: 1, expectedMs: 9_000 },
      { sizeClass: 2, expectedMs: 9_000 },
    ],
  });
  const second = await anEndedExecution(db, { hedgeOf: id, sizeClass: 2, isSized: false });
  await anAttempt(db, id, { from: 0, to: 9, outcome: "cancelled" });
  await anAttempt(db, id, { attempt: 2, sizeClass: 2, worker: "fast", from: 5, to: 9 });
  await anAttempt(db, second, { sizeClass: 2, worker: "fast", from: 5, to: 9 });

  const { page, usage } = await read();

  // 9 s at 1 and 4 s at 2 were used; 4 s measured at 2 would have been enough.
  expect(page.saved).toEqual({ amount: 8 - 17, executions: 1, unknown: 0 });
  expect(usage.keys).toMatchObject([{ key: "a:k", executions: 1, cost: 17, ms: 13_000 }]);
});

test("waiting executions are shown at their class, also when nothing could run them", async () => {
  await registerWorkers(db, [aWorker("w1", { platform: linux })], now);
  const waiting = [
    await anEndedExecution(db, { sizeClass: 1 }),
    await anEndedExecution(db, { sizeClass: 1, requirements: '{"OSFamily":"plan9"}' }),
  ];
  await db.run(sql`
    update execution set state = 'queued', finished_at = null, outcome = null
    where id = any(${waiting}::uuid[])
  `);

  const { page } = await read();

  const queued = page.platforms.map(({ name, classes }) => [
    name,
    classes[0]?.queued,
    classes[0]?.workers,
  ]);
  expect(queued).toEqual([
    ["OSFamily=linux", 1, 1],
    ["OSFamily=plan9", 1, 0],
  ]);
  expect(page.platforms[1]?.classes[0]?.expectedWaitMs).toBeNull();
});

async function threeKeys() {
  for (const [n, key] of ["a:cheap", "a:dear", "a:middle"].entries()) {
    const id = await anEndedExecution(db, { title: `Link ${key}` });
    await aDecision(db, id, { key });
    await anAttempt(db, id, { from: 0, to: [1, 9, 5][n] ?? 0, sizeClass: n === 1 ? 2 : 1 });
    await aKey(db, key, { title: `CppLink //${key}` });
  }
  await aKey(db, "a:old", { title: "CppLink //old", second: 1 });
}

test("keys are ordered by cost, page by page", async () => {
  await threeKeys();
  const { usage } = await read();

  const seen: string[] = [];
  let before: string | undefined;
  do {
    const page = SizeClassKeys.parse(
      await listKeys(db, usage, { text: undefined, before, limit: 2 }),
    );
    seen.push(...page.keys.map(({ key, cost }) => `${key} ${cost}`));
    before = page.next ?? undefined;
  } while (before !== undefined);

  expect(seen).toEqual(["a:dear 18", "a:middle 5", "a:cheap 1"]);
});

test("keys are found by a part of their title, those without recent cost last", async () => {
  await threeKeys();
  const { usage } = await read();
  const find = async (text: string) =>
    (await listKeys(db, usage, { text, before: undefined, limit: 50 })).keys.map(({ key }) => key);

  expect(await find("A:MIDDLE")).toEqual(["a:middle"]);
  expect(await find("//old")).toEqual(["a:old"]);
  expect(await find("link")).toEqual(["a:dear", "a:middle", "a:cheap", "a:old"]);
  expect(await find("100%_\\")).toEqual([]);
});

test.each(["nonsense", "", Buffer.from("[1,2]").toString("base64url")])(
  "a place in the list that no list gave is refused: %j",
  async (before) => {
    const { usage } = await read();
    await expect(listKeys(db, usage, { text: undefined, before, limit: 2 })).rejects.toThrow(
      "`before` is none",
    );
  },
);

test("the most expensive keys of a class are those that ran there", async () => {
  await threeKeys();
  const { usage, table } = await read();

  const on2 = await mostExpensiveKeys(db, table, usage, "OSFamily=linux", 2);

  expect(on2).toMatchObject([{ key: "a:dear", cost: 18 }]);
  expect(await mostExpensiveKeys(db, table, usage, "OSFamily=plan9", 2)).toEqual([]);
});

test("empty hours are included, and the latest is the present one", () => {
  const latest = Math.floor(now.getTime() / 3_600_000);
  const ran = [
    { hour: latest, runs: 2, ms: 3_000 },
    { hour: latest - 30, runs: 9, ms: 1 },
  ];

  const hours = hoursOfClass(ran, 2, now);

  expect(hours).toHaveLength(24);
  expect(hours.at(-1)).toMatchObject({ runs: 2, busySeconds: 3, cost: 6 });
  expect(hours.reduce((sum, { runs }) => sum + runs, 0)).toBe(2);
});
