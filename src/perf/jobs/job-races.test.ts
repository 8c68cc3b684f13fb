import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { changeFeed } from "#server/change-feed.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import { benchmarkChannel } from "../channels.ts";
import { labTimes } from "../lab-times.ts";
import { aLab, emptyLab, labClock, storeJob } from "../perf.fixture.ts";
import {
  aCollector,
  aLabServer,
  aProcess,
  cancelInTable,
  jobRow,
  jobRows,
} from "./lab-driver.fixture.ts";

const url = await freshDatabase();
/** Each server has its own connections. */
const [db, otherDb] = [openPostgres({ url }), openPostgres({ url })];
afterAll(() => Promise.all([db.close(), otherDb.close()]));
beforeEach(() => emptyLab(db));

const rounds = 15;

function twoServers() {
  const clock = labClock();
  return [aLabServer(db, clock), aLabServer(otherDb, clock)] as const;
}

test("simultaneous claims of one collector at two servers get the same job, which is assigned once", async () => {
  const { jobs } = await aLab(db);
  const [one, two] = twoServers();
  const { name, incarnation } = await aCollector(one);

  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) => (i % 2 ? one : two).claim(name, incarnation)),
  );

  expect(new Set(answers.map(({ job }) => `${job?.id} ${job?.epoch} ${job?.attempt}`))).toEqual(
    new Set([`${jobs[0]} 1 1`]),
  );
  expect(await jobRow(db, jobs[0])).toMatchObject({ epoch: 1, attempts: 1 });
});

test("two collectors of the same jobs never get the same one, and do not wait for each other", async () => {
  const { request, digest, child } = await aLab(db);
  await db.run(sql`delete from benchmark_job`);
  for (let i = 0; i < rounds; i++)
    for (const profile of ["check", "emit"])
      await storeJob(db, {
        request,
        artifact: child,
        digest,
        profile,
        benchmarks: ["alpha", ...Array(i).fill("beta")],
      });
  const [one, two] = twoServers();
  const first = await aCollector(one, { set: 8, mayTakeOver: [0] });
  const second = await aCollector(two, { set: 9, mayTakeOver: [0] });

  const given: (string | undefined)[] = [];
  for (let i = 0; i < rounds; i++) {
    const jobs = await Promise.all([first.claim(), second.claim()]);
    given.push(...jobs.map((job) => job?.id));
    await Promise.all(
      [first, second].map(async (collector, n) => {
        const job = jobs[n];
        if (job) await collector.end(job, { outcome: "permanent", error: "no" });
      }),
    );
  }

  expect(given).not.toContain(undefined);
  expect(new Set(given).size).toBe(2 * rounds);
});

test("of a simultaneous end, expiry and cancellation, one takes effect, and all answers agree", async () => {
  const [one, two] = twoServers();
  for (let i = 0; i < rounds; i++) {
    await emptyLab(db);
    const { jobs } = await aLab(db);
    const collector = await aCollector(one);
    const job = await collector.claim();
    if (job === null) throw new Error("no job");
    await collector.measure(job);
    one.clock.pass(one.times.leaseMs);

    const [ended, silence] = await Promise.all([
      collector.end(job).catch((reason: unknown) => z.object({ code: z.string() }).parse(reason)),
      two.endSilent(),
      cancelInTable(otherDb, jobs[0], one.clock.now()),
    ]);

    const { state } = await jobRow(db, jobs[0]);
    expect(["success", "cancelled"]).toContain(state);
    // Its report was accepted, or it got the earlier result.
    const said =
      "state" in ended ? ended.state : `${ended.code}, ${silence.jobs.length} taken away`;
    expect([state, "aborted, 1 taken away"]).toContain(said);
  }
});

test("after simultaneous claims and a cancellation, the collector that got the job holds it or is told that it is cancelled", async () => {
  const [one, two] = twoServers();
  for (let i = 0; i < rounds; i++) {
    await emptyLab(db);
    const { jobs } = await aLab(db);
    const owner = await aCollector(one);
    const other = await aCollector(two, { set: null });
    await db.run(sql`update collector set last_heartbeat_at = null where name = ${owner.name}`);

    const claims = await Promise.all([
      owner.claim(),
      other.claim(),
      cancelInTable(db, jobs[0], one.clock.now()),
    ]);

    const holders = [owner, other].filter((_, n) => claims[n]?.id === jobs[0]);
    expect(holders.length).toBeLessThan(2);
    expect((await jobRow(db, jobs[0])).state).toBe("cancelled");
    for (const holder of holders) {
      const epoch = claims[holder === owner ? 0 : 1]?.epoch ?? 0;
      const beat = await one.beat(jobs[0], holder.holder({ epoch }));
      expect(beat).toMatchObject({ cancelled: true });
    }
  }
});

test("when a hello and reports of the earlier process arrive together, exactly the accepted reports are stored", async () => {
  const [one, two] = twoServers();
  for (let i = 0; i < rounds; i++) {
    await emptyLab(db);
    await aLab(db);
    const before = await aCollector(one);
    const job = await before.claim();
    if (job === null) throw new Error("no job");

    const [reports, after] = await Promise.all([
      Promise.allSettled(
        job.cases.map((each) => one.report(job.id, before.holder(job), each.case)),
      ),
      aProcess(two, before.name),
    ]);

    const stored = await db.many(z.object({}), sql`select from benchmark_result`);
    const accepted = reports.filter(({ status }) => status === "fulfilled").length;
    expect(stored).toHaveLength(accepted);
    const again = await after.claim();
    expect(again?.cases.length ?? 0).toBe(job.cases.length - accepted);
    expect(again === null ? (await jobRow(db, job.id)).state : again.attempt).toBe(
      again === null ? "success" : 2,
    );
  }
});

test("a waiting claim ends when another server adds a job, and for no other reason", async () => {
  const { request, digest, child } = await aLab(db);
  await db.run(sql`delete from benchmark_job`);
  const feed = await changeFeed(db, benchmarkChannel);
  try {
    // Slower than the test, so that only the notification can cause the answer.
    const times = { ...labTimes, pollMs: 600_000 };
    const server = aLabServer(db, labClock(), times, () => feed.ticket(""));
    const { name, incarnation } = await aCollector(server);
    const waiting = server.claim(name, incarnation, 60_000);
    const job = await storeJob(otherDb, { request, artifact: child, digest });

    await otherDb.transaction((tx) => notifyBenchmarkChange(tx, "demo"));

    expect((await waiting).job?.id).toBe(job);
    expect((await jobRows(db)).map(({ state }) => state)).toEqual(["in-progress"]);
  } finally {
    await feed.stop();
  }
});

test("a claim whose client has disconnected ends without a job", async () => {
  await aLab(db);
  await db.run(sql`delete from benchmark_job`);
  const feed = await changeFeed(db, benchmarkChannel);
  try {
    const server = aLabServer(db, labClock(), labTimes, () => feed.ticket(""));
    const { name, incarnation } = await aCollector(server);
    const listening = new AbortController();
    const waiting = server.claim(name, incarnation, 60_000, listening.signal);

    listening.abort();

    expect(await waiting).toMatchObject({ job: null, because: "no job is queued for it" });
  } finally {
    await feed.stop();
  }
});

test("a claim that a newer process replaced is told so", async () => {
  await aLab(db);
  const [one] = twoServers();
  const before = await aCollector(one);
  await aProcess(one, before.name);

  await expect(one.claim(before.name, before.incarnation)).rejects.toMatchObject({
    code: "aborted",
  });
  await expect(one.claim(before.name, randomUUID())).rejects.toMatchObject({ code: "aborted" });
});
