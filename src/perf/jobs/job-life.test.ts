import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aLab, emptyLab, storeArtifact, storeJob } from "../perf.fixture.ts";
import { aCollector, aLabServer, aProcess, jobRow } from "./lab-driver.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => emptyLab(db));

const Errors = z.object({ benchmark: z.string(), message: z.string() });
const errorsOf = (id: string) =>
  db.many(
    Errors,
    sql`select benchmark, message from benchmark_error where job_id = ${id} order by id`,
  );

test("a collector gets a job of its set with all that it needs, measures, and ends it", async () => {
  const lab = await aLab(db);
  const server = aLabServer(db);
  const collector = await aCollector(server, { set: 0 });

  const job = await collector.claim();
  if (job === null) throw new Error("no job");

  expect(job).toMatchObject({
    id: lab.jobs[0],
    epoch: 1,
    attempt: 1,
    purpose: "own",
    suite: "demo",
    artifact: { tag: lab.child.tag, component: { kind: "npm", package: "js" } },
    against: null,
    leaseMs: 60_000,
  });
  expect(job.cases.map((each) => `${each.case.benchmark} ${each.case.scenario}`)).toEqual([
    "alpha full",
    "alpha incremental",
    "beta full",
    "beta incremental",
  ]);
  await collector.measure(job);
  expect(await collector.end(job)).toEqual({ state: "success" });
  expect(await collector.claim()).toBeNull();
  expect(await jobRow(db, job.id)).toMatchObject({ state: "success", collector: collector.name });
});

test("a repeated claim gets the same job, and uses no attempt", async () => {
  await aLab(db);
  const collector = await aCollector(aLabServer(db));

  const first = await collector.claim();
  const second = await collector.claim();

  expect(second).toEqual(first);
});

test("a restarted collector continues its job with the cases that are left", async () => {
  await aLab(db);
  const server = aLabServer(db);
  const before = await aCollector(server);
  const job = await before.claim();
  if (job?.cases[0] === undefined) throw new Error("no job");
  await server.report(job.id, before.holder(job), job.cases[0].case);

  const after = await aProcess(server, before.name);
  const again = await after.claim();

  expect(again).toMatchObject({ id: job.id, attempt: 2, epoch: 2 });
  expect(again?.cases).toEqual(job.cases.slice(1));
  await expect(before.beat(job)).rejects.toMatchObject({ code: "aborted" });
  await expect(before.end(job)).rejects.toThrow(/another process now acts for collector/);
  await expect(before.claim()).rejects.toMatchObject({ code: "aborted" });
});

test("the earlier process of a collector is refused from the hello of the new one, not only from its next claim", async () => {
  await aLab(db);
  const server = aLabServer(db);
  const before = await aCollector(server);
  const job = await before.claim();
  if (job?.cases[0] === undefined) throw new Error("no job");

  await aProcess(server, before.name);

  const { case: testCase } = job.cases[0];
  await expect(server.report(job.id, before.holder(job), testCase)).rejects.toThrow(
    /another process now acts/,
  );
  expect(await db.many(z.object({}), sql`select from benchmark_collection`)).toEqual([]);
});

test("a job that was started as often as allowed fails with a message", async () => {
  const { jobs } = await aLab(db);
  const server = aLabServer(db);
  let collector = await aCollector(server);
  for (let attempt = 1; attempt <= 3; attempt++) {
    expect(await collector.claim()).toMatchObject({ id: jobs[0], attempt });
    collector = await aProcess(server, collector.name);
  }

  expect(await collector.claim()).toBeNull();

  const error = "given up after 3 attempts: its collector stopped during the last one";
  expect(await jobRow(db, jobs[0])).toMatchObject({ state: "failure", attempts: 3, error });
  expect(await errorsOf(jobs[0])).toEqual([{ benchmark: "", message: error }]);
});

test("a returned job uses no attempt and is offered to the same collector first", async () => {
  const { jobs, digest, request, child } = await aLab(db);
  const backfill = { purpose: "backfill" as const, profile: "emit" };
  const server = aLabServer(db);
  const collector = await aCollector(server);
  for (let i = 0; i < 5; i++) {
    const job = await collector.claim();
    if (job === null) throw new Error("no job");
    expect(job).toMatchObject({ id: jobs[0], attempt: 1, epoch: i + 1 });
    // It would be first if the other were not started.
    if (i === 0) await storeJob(db, { request, digest, artifact: child, ...backfill });
    const end = { outcome: "handed-back", why: "an update" } as const;
    expect(await collector.end(job, end)).toEqual({ state: "queued" });
  }
});

test("a job that failed for a temporary reason is tried again later, and finally fails", async () => {
  const { jobs } = await aLab(db);
  const server = aLabServer(db);
  const collector = await aCollector(server);
  for (let attempt = 1; attempt <= 3; attempt++) {
    const job = await collector.claim();
    if (job === null) throw new Error("no job");
    const end = { outcome: "transient", error: "the registry is away" } as const;
    const { state } = await collector.end(job, end);
    expect(state).toBe(attempt < 3 ? "queued" : "failure");
    // A repeated report gets the same answer.
    expect(await collector.end(job, end)).toEqual({ state });
    expect(await collector.claim()).toBeNull();
    server.clock.pass(server.times.retryAfterMs);
  }
  expect(await jobRow(db, jobs[0])).toMatchObject({
    state: "failure",
    error: "given up after 3 attempts; the last one: the registry is away",
  });
});

test("a job that cannot be done fails at once", async () => {
  const { jobs } = await aLab(db);
  const collector = await aCollector(aLabServer(db));
  const job = await collector.claim();
  if (job === null) throw new Error("no job");

  await collector.end(job, { outcome: "permanent", error: "no such version\0" });

  expect(await jobRow(db, jobs[0])).toMatchObject({ state: "failure", attempts: 1 });
  expect(await errorsOf(jobs[0])).toEqual([{ benchmark: "", message: "no such version\uFFFD" }]);
});

test("a job with nothing left to do ends at once, and the claim continues with the next one", async () => {
  const { jobs, digest, request, child } = await aLab(db);
  const server = aLabServer(db);
  const collector = await aCollector(server);
  const first = await collector.claim();
  if (first === null) throw new Error("no job");
  await collector.measure(first);
  await collector.end(first);
  const part = await storeJob(db, { request, digest, artifact: child, benchmarks: ["alpha"] });
  const other = await storeJob(db, { request, digest, artifact: child, profile: "emit" });

  const next = await collector.claim();

  expect(jobs[0]).toBe(first.id);
  expect(next?.id).toBe(other);
  expect(await jobRow(db, part)).toMatchObject({ state: "success", collector: null, attempts: 0 });
});

test("a job of a backend that its artifact does not have fails instead of blocking the queue", async () => {
  const { digest, request } = await aLab(db);
  const artifact = await storeArtifact(db, { tag: "5.9.3", kind: "release", backends: ["js"] });
  const job = await storeJob(db, { request, digest, artifact, backend: "native", set: 7 });
  const collector = await aCollector(aLabServer(db), { set: 7 });

  expect(await collector.claim()).toBeNull();

  expect(await jobRow(db, job)).toMatchObject({
    state: "failure",
    error: "5.9.3 has nothing that serves backend native",
  });
});

test.each([
  ["is not active", sql`update collector set active = false`],
  ["is out of duty: it is mended", sql`update collector set out_of_duty = 'it is mended'`],
  ["has not registered yet", sql`update collector set incarnation = null`],
])("a collector that %s gets no job, and is told the reason", async (because, change) => {
  await aLab(db);
  const collector = await aCollector(aLabServer(db));

  await db.run(change);

  expect(await collector.because()).toContain(because);
});

test("an unknown job and an unknown collector are reported as missing", async () => {
  const server = aLabServer(db);
  const collector = await aCollector(server);

  await expect(server.beat(randomUUID(), collector.holder({ epoch: 1 }))).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(server.claim("nobody", randomUUID())).rejects.toMatchObject({ code: "not_found" });
  await expect(server.hello("nobody", randomUUID())).rejects.toMatchObject({ code: "not_found" });
});

test("reports of an earlier assignment are refused, also from the same process", async () => {
  await aLab(db);
  const server = aLabServer(db);
  const collector = await aCollector(server);
  const before = await collector.claim();
  if (before?.cases[0] === undefined) throw new Error("no job");
  await collector.end(before, { outcome: "handed-back", why: "a pause" });
  const again = await collector.claim();
  if (again === null) throw new Error("no job");

  const late = server.report(before.id, collector.holder(before), before.cases[0].case);

  await expect(late).rejects.toThrow(/assigned again/);
  await expect(collector.beat(before)).rejects.toMatchObject({ code: "aborted" });
  await expect(collector.end(before)).rejects.toMatchObject({ code: "aborted" });
  expect(await collector.beat(again)).toMatchObject({ cancelled: false });
});

test("a success is accepted only if each case of the job has values or an error", async () => {
  const { jobs } = await aLab(db);
  const server = aLabServer(db);
  const collector = await aCollector(server);
  const job = await collector.claim();
  const [first, second, ...rest] = job?.cases ?? [];
  if (job === null || first === undefined || second === undefined) throw new Error("no job");
  await server.report(job.id, collector.holder(job), first.case);
  await server.report(job.id, collector.holder(job), second.case, { error: "it does not compile" });

  expect(await collector.end(job)).toEqual({ state: "queued" });

  expect((await jobRow(db, jobs[0])).error).toBe(
    `collector ${collector.name} reported that all is measured, but neither values nor an error of ` +
      '"compile beta check full js linux-x64", "compile beta check incremental js linux-x64"',
  );
  server.clock.pass(server.times.retryAfterMs);
  const again = await collector.claim();
  // A failed case is retried once, together with the others.
  expect(again?.cases.map((each) => each.case)).toEqual([second, ...rest].map((each) => each.case));
  for (const each of rest) await server.report(job.id, collector.holder(again ?? job), each.case);
  expect(await collector.end(again ?? job)).toEqual({ state: "success" });
});

test("a success without the requested pairs is not accepted", async () => {
  const { request, child, parent, digest } = await aLab(db);
  await db.run(sql`delete from benchmark_job`);
  const more = { request, artifact: child, against: parent, digest, benchmarks: ["alpha"] };
  await storeJob(db, { ...more, purpose: "paired" });
  const server = aLabServer(db);
  const collector = await aCollector(server);
  const job = await collector.claim();
  if (job === null) throw new Error("no job");
  expect(await collector.end(job)).toEqual({ state: "queued" });
  server.clock.pass(server.times.retryAfterMs);
  const again = await collector.claim();
  if (again === null) throw new Error("no job");
  const values = { "wall-time": 1 };
  const pairs = [{ pair: 1, parentFirst: true, child: values, parent: values }];
  for (const each of again.cases)
    await server.report(again.id, collector.holder(again), each.case, { pairs });

  expect(await collector.end(again)).toEqual({ state: "success" });
});
