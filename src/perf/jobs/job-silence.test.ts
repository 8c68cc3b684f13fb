import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aLab, emptyLab, storeJob } from "../perf.fixture.ts";
import { aCollector, aLabServer, aProcess, cancelInTable, jobRow } from "./lab-driver.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => emptyLab(db));

test("a heartbeat extends the lease, and a silent collector loses its job when the lease ends", async () => {
  const { jobs } = await aLab(db);
  const server = aLabServer(db);
  const collector = await aCollector(server);
  const job = await collector.claim();
  if (job === null) throw new Error("no job");
  for (let i = 0; i < 10; i++) {
    server.clock.pass(server.times.leaseMs - 1);
    expect((await server.endSilent()).jobs).toEqual([]);
    expect(await collector.beat(job)).toEqual({ cancelled: false, leaseMs: 60_000 });
  }

  server.clock.pass(server.times.leaseMs);
  const silence = await server.endSilent();

  expect(silence).toEqual({
    jobs: [{ id: jobs[0], collector: collector.name, state: "queued" }],
    collectors: [collector.name],
  });
  expect(await server.endSilent()).toEqual({ jobs: [], collectors: [] });
  await expect(collector.beat(job)).rejects.toThrow(/its lease has expired/);
  await expect(collector.end(job)).rejects.toMatchObject({ code: "aborted" });
  expect(await collector.claim()).toMatchObject({ id: jobs[0], attempt: 2, epoch: 2 });
});

test("silence in the last attempt ends the job", async () => {
  const { digest, request, child } = await aLab(db);
  await db.run(sql`delete from benchmark_job`);
  const job = await storeJob(db, { request, digest, artifact: child, maxAttempts: 1 });
  const server = aLabServer(db);
  const collector = await aCollector(server, { name: "gone" });
  expect(await collector.claim()).toMatchObject({ id: job });

  server.clock.pass(server.times.leaseMs);
  await server.endSilent();

  expect(await jobRow(db, job)).toMatchObject({
    state: "failure",
    error: "given up after 1 attempt: collector gone went silent in the last one",
  });
});

test("the answer to a heartbeat states that the job was cancelled", async () => {
  const { jobs } = await aLab(db);
  const server = aLabServer(db);
  const collector = await aCollector(server);
  const job = await collector.claim();
  if (job?.cases[0] === undefined) throw new Error("no job");

  await cancelInTable(db, jobs[0], server.clock.now());

  expect(await collector.beat(job)).toMatchObject({ cancelled: true });
  await expect(server.report(job.id, collector.holder(job), job.cases[0].case)).rejects.toThrow(
    /it is cancelled/,
  );
  expect(await collector.end(job)).toEqual({ state: "cancelled" });
  expect(await collector.claim()).toBeNull();
});

test("a replaced process does not prevent that its collector counts as silent", async () => {
  await aLab(db);
  const server = aLabServer(db);
  const before = await aCollector(server);
  const job = await before.claim();
  if (job === null) throw new Error("no job");
  await aProcess(server, before.name);

  server.clock.pass(server.times.leaseMs);
  await expect(before.beat(job)).rejects.toMatchObject({ code: "aborted" });
  await expect(before.claim()).rejects.toMatchObject({ code: "aborted" });

  expect(await server.endSilent()).toMatchObject({
    jobs: [{ id: job.id }],
    collectors: [before.name],
  });
});

test("the sets of silent collectors are taken over only after they were reported as silent", async () => {
  const { jobs } = await aLab(db);
  const server = aLabServer(db);
  const helper = await aCollector(server, { set: 7, mayTakeOver: [1] });
  await aCollector(server, { set: 1 });

  // As if all servers had been down for an hour: no collector could call, and the helper is the first caller.
  server.clock.pass(60 * server.times.leaseMs);
  expect(await helper.claim()).toBeNull();

  await server.endSilent();
  expect(await helper.claim()).toMatchObject({ id: jobs[1] });
});

test("results of an optional job are examined for steps, even after the end of its request", async () => {
  const { request, child, digest } = await aLab(db);
  await db.run(sql`delete from benchmark_job`);
  await storeJob(db, { request, artifact: child, digest, optional: true });
  await db.run(sql`
    update benchmark_request set state = 'completed', ended_at = created_at where id = ${request}
  `);
  const collector = await aCollector(aLabServer(db));
  const job = await collector.claim();
  if (job === null) throw new Error("no job");

  await collector.measure(job);
  await collector.end(job);

  expect(
    await db.many(
      z.object({ artifactId: z.number() }),
      sql`select artifact_id as "artifactId" from benchmark_unexamined`,
    ),
  ).toEqual([{ artifactId: child.id }]);
});
