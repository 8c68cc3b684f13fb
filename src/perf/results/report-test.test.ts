import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { caseKey } from "#core/test-case.ts";
import type { Db, Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aCollector, aLabServer, aProcess } from "../jobs/lab-driver.fixture.ts";
import { aLab, aSuite, emptyLab, figuresOf, storeJob } from "../perf.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => emptyLab(db));

const Result = z.object({ iterations: z.number(), least: z.array(z.number().nullable()) });
const results = () =>
  db.many(Result, sql`select iterations, least from benchmark_result order by case_id`);
const Stored = z.object({ iteration: z.number(), sample: z.array(z.number().nullable()) });
const collections = () =>
  db.many(
    Stored,
    sql`select iteration, sample from benchmark_collection order by case_id, environment_id, iteration`,
  );
const Counted = z.object({ count: z.number() });
const pairs = () => db.many(Counted, sql`select count(*) from benchmark_pair`);
const errors = () => db.many(Counted, sql`select count(*) from benchmark_error`);

async function begin(purpose: "own" | "paired" = "own") {
  const lab = await aLab(db);
  const server = aLabServer(db);
  if (purpose === "paired") {
    await db.run(sql`delete from benchmark_job`);
    const { request, child, parent, digest } = lab;
    await storeJob(db, { request, artifact: child, against: parent, digest, purpose });
  }
  const collector = await aCollector(server);
  const job = await collector.claim();
  const first = job?.cases[0]?.case;
  if (job === null || first === undefined) throw new Error("no job");
  const report = (rest: Parameters<typeof server.report>[3], testCase = first) =>
    server.report(job.id, collector.holder(job), testCase, rest);
  return { ...lab, server, collector, job, first, report };
}

// instructions, throughput (more is better), wall-time: in the order of the suite's metrics.
const values = (instructions: number, throughput: number, wall: number) => ({
  instructions,
  throughput,
  "wall-time": wall,
});

test("the best value of each metric is computed, and all iterations are kept", async () => {
  const { report } = await begin();

  const told = await report({
    iterations: [
      { iteration: 1, values: values(100.5, 7, 3) },
      { iteration: 2, values: { instructions: 99.25, "wall-time": 4 }, warnings: ["load"] },
      { iteration: 3, values: values(101, 9, 0.1 + 0.2) },
    ],
  });

  expect(told).toEqual({ iterations: 3, pairs: 0 });
  expect(await collections()).toEqual([
    { iteration: 1, sample: [100.5, 7, 3] },
    { iteration: 2, sample: [99.25, null, 4] },
    { iteration: 3, sample: [101, 9, 0.1 + 0.2] },
  ]);
  expect(await results()).toEqual([{ iterations: 3, least: [99.25, 9, 0.1 + 0.2] }]);
});

test("a repeated report is stored once and accepted, also with other values", async () => {
  const { report } = await begin();
  const iterations = [{ iteration: 1, values: values(1, 2, 3) }];

  expect(await report({ iterations, error: "it also failed" })).toEqual({
    iterations: 1,
    pairs: 0,
  });
  expect(await report({ iterations, error: "it also failed" })).toEqual({
    iterations: 0,
    pairs: 0,
  });
  await report({
    iterations: [
      { iteration: 1, values: values(0, 9, 0) },
      { iteration: 2, values: values(2, 3, 2) },
    ],
  });

  expect((await collections()).map(({ sample }) => sample)).toEqual([
    [1, 2, 3],
    [2, 3, 2],
  ]);
  expect(await results()).toEqual([{ iterations: 2, least: [1, 3, 2] }]);
  expect(await errors()).toEqual([{ count: 1 }]);
});

test("pairs are stored once, and do not belong to a baseline", async () => {
  const { report, job, collector, server, first } = await begin("paired");
  const pair = (n: number) => ({
    pair: n,
    parentFirst: n % 2 === 0,
    child: values(1, 2, n),
    parent: values(1, 2, n + 1),
  });

  expect(await report({ pairs: [pair(1), pair(2)] })).toEqual({ iterations: 0, pairs: 2 });
  expect(await report({ pairs: [pair(2), pair(3)] })).toEqual({ iterations: 0, pairs: 1 });

  expect(await pairs()).toEqual([{ count: 3 }]);
  expect(await results()).toEqual([]);
  const again = await (await aProcess(server, collector.name)).claim();
  expect(again).toMatchObject({ id: job.id, against: { component: { kind: "npm" } } });
  expect(again?.cases.map(({ storedPairs }) => storedPairs)).toEqual([3, 0, 0, 0]);
  expect(caseKey(again?.cases[0]?.case ?? first)).toBe(caseKey(first));
});

test.each<[string, Parameters<Awaited<ReturnType<typeof begin>>["report"]>[0], RegExp]>([
  ["nothing", {}, /no values and no error/],
  [
    "a metric that the suite does not have",
    { iterations: [{ iteration: 1, values: { x: 1 } }] },
    /no metric "x"/,
  ],
  [
    "an iteration without figures",
    { iterations: [{ iteration: 1, values: {} }] },
    /no value: report/,
  ],
  [
    "a figure below 0",
    { iterations: [{ iteration: 1, values: { instructions: -1 } }] },
    /instructions is -1/,
  ],
  [
    "the same iteration twice",
    {
      iterations: [
        { iteration: 1, values: values(1, 1, 1) },
        { iteration: 1, values: values(2, 2, 2) },
      ],
    },
    /report each iteration once/,
  ],
  [
    "pairs of a job that has none",
    { pairs: [{ pair: 1, parentFirst: true, child: {}, parent: {} }] },
    /not measured in pairs/,
  ],
])("a report with %s is refused", async (_, rest, sentence) => {
  const { report } = await begin();

  await expect(report(rest)).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringMatching(sentence),
  });

  expect(await collections()).toEqual([]);
});

test("a collector that reports errors without end does not fill a table", async () => {
  const { report, first } = await begin();

  for (let i = 0; i < 30; i++) await report({ error: `error ${i}` });
  await report({ iterations: figuresOf(first) });

  expect(await errors()).toEqual([{ count: 20 }]);
});

test("a case that is not the job's is refused", async () => {
  const { report, first } = await begin();

  await expect(
    report({ iterations: figuresOf(first) }, { ...first, benchmark: "gamma" }),
  ).rejects.toMatchObject({ code: "invalid_argument" });
});

test("metrics and cases get their numbers once, at any server", async () => {
  const lab = await aLab(db);
  const servers = [aLabServer(db), aLabServer(db)] as const;
  const collectors = [
    await aCollector(servers[0], { set: 0 }),
    await aCollector(servers[1], { set: 1 }),
  ] as const;

  await Promise.all(
    collectors.map(async (collector) => {
      const job = await collector.claim();
      if (job !== null) await collector.measure(job);
    }),
  );

  const metrics = await db.many(
    z.object({ ordinal: z.number(), name: z.string() }),
    sql`select ordinal, name from benchmark_metric order by ordinal`,
  );
  expect(metrics.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3]);
  expect(new Set(metrics.map(({ name }) => name))).toEqual(new Set(Object.keys(aSuite().metrics)));
  expect(await results()).toHaveLength(6);
  expect(lab.jobs).toHaveLength(2);
});

test("when two equal machines measure the same case, no iteration of the best value is lost", async () => {
  const { request, child, digest, first } = await begin();
  const machine = { cpu: "the same" };
  const part = { request, artifact: child, digest, benchmarks: ["alpha"] };
  await db.run(sql`delete from benchmark_job`);
  await storeJob(db, { ...part });
  await storeJob(db, { ...part, benchmarks: ["alpha", "beta"] });
  const server = aLabServer(db);
  await db.run(sql`update collector set active = false`);
  const one = await aCollector(server, { set: 0 });
  const other = await aCollector(server, { set: null, active: true });
  for (const { name, incarnation } of [one, other]) await server.hello(name, incarnation, machine);
  const mine = await one.claim();
  await db.run(sql`update collector set last_heartbeat_at = null where name = ${one.name}`);
  const theirs = await other.claim();
  if (mine === null || theirs === null) throw new Error("no job");

  for (let round = 0; round < 10; round++) {
    const told = (n: number) => ({ iterations: [{ iteration: n, values: values(100 - n, n, n) }] });
    await Promise.all([
      server.report(mine.id, one.holder(mine), first, told(2 * round + 1)),
      server.report(theirs.id, other.holder(theirs), first, told(2 * round + 2)),
    ]);
    const most = 2 * round + 2;
    expect(await results()).toEqual([{ iterations: most, least: [100 - most, most, 1] }]);
  }
});

test("results can be neither changed nor removed", async () => {
  const { report } = await begin();
  await report({ iterations: [{ iteration: 1, values: values(1, 2, 3) }] });

  for (const change of [
    sql`update benchmark_collection set sample = '{0}'`,
    // The row that pages read, even if it claims to have another iteration.
    sql`update benchmark_result set least = '{0}'`,
    sql`update benchmark_result set least = '{0}', iterations = iterations + 1`,
    sql`update benchmark_result set collector_name = 'other'`,
    sql`delete from benchmark_result`,
    sql`delete from benchmark_collection`,
  ])
    await expect(db.run(change)).rejects.toThrow(/measurements are append-only/);
  expect(await collections()).toHaveLength(1);
});

test("pairs can be neither changed nor removed", async () => {
  const { report } = await begin("paired");
  await report({ pairs: [{ pair: 1, parentFirst: true, child: { instructions: 1 }, parent: {} }] });

  for (const change of [
    sql`update benchmark_pair set child = '{0}'`,
    sql`delete from benchmark_pair`,
  ])
    await expect(db.run(change)).rejects.toThrow(/measurements are append-only/);
});

test("a report costs three statements, whatever it holds", async () => {
  await aLab(db);
  let statements = 0;
  const counting = (tx: Tx): Tx => ({
    many: (row, statement) => (statements++, tx.many(row, statement)),
    run: (statement: Sql) => (statements++, tx.run(statement)),
    script: (text) => tx.script(text),
  });
  const counted: Db = {
    ...db,
    ...counting(db),
    transaction: (work) => db.transaction((tx) => work(counting(tx))),
  };
  const server = aLabServer(counted);
  const collector = await aCollector(server);
  const job = await collector.claim();
  if (job === null) throw new Error("no job");
  const costs: number[] = [];
  for (const [i, each] of job.cases.entries()) {
    statements = 0;
    const iterations = figuresOf(each.case, 1 + 40 * i);
    await server.report(job.id, collector.holder(job), each.case, { iterations });
    costs.push(statements);
  }

  // The first report of a job assigns numbers to its cases and metrics.
  expect(costs).toEqual([11, 3, 3, 3]);
});
