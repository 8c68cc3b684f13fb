import { EventEmitter, once } from "node:events";
import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import { benchmarkChannel } from "../channels.ts";
import { aSuite, emptyLab, storeArtifact, storeSuite } from "../perf.fixture.ts";
import { startBenchmarkCron } from "./cron.ts";
import { acquireDuty, releaseDuty } from "./leader.store.ts";
import { aKnownArtifact, aService, aSource, endJobs } from "./requests.fixture.ts";

const url = await freshDatabase();
const db = openPostgres({ url });
const otherDb = openPostgres({ url });
beforeEach(() => emptyLab(db));

/** So long that nothing in these tests happens because of elapsed time. */
const never = 3_600_000;

const states = async () =>
  (
    await db.many(
      z.object({ state: z.string() }),
      sql`select state from benchmark_request order by created_at, id`,
    )
  ).map(({ state }) => state);

/** Resolves when changes in the lab have made a condition true. */
async function until(reached: () => Promise<boolean>): Promise<void> {
  const bell = new EventEmitter();
  const listening = await db.listen(benchmarkChannel, () => bell.emit("ring"));
  try {
    for (;;) {
      const ring = once(bell, "ring");
      if (await reached()) return;
      await ring;
    }
  } finally {
    await listening.stop();
  }
}
const untilStates = (...wanted: string[]) =>
  until(async () => JSON.stringify(await states()) === JSON.stringify(wanted));

test("a request starts and ends after a change, not after an interval", async () => {
  await storeSuite(db);
  await storeArtifact(db, { tag: "a" });
  const service = aService(db);
  const cron = await startBenchmarkCron({ ...service.services, everyMs: never });

  const { id } = await service.submit({ artifact: "a" });
  await untilStates("in-progress");
  await endJobs(db, id);
  await notifyBenchmarkChange(db);
  await untilStates("completed");

  await cron.stop();
  expect(service.logged).toEqual([]);
});

test("two servers do it at the same time, and each request starts once", async () => {
  await storeSuite(db, aSuite({ requestsAtOnce: 20 }));
  const crons = await Promise.all(
    [db, otherDb].map((each) => startBenchmarkCron({ ...aService(each).services, everyMs: never })),
  );
  const service = aService(db);
  for (const tag of ["a", "b", "c"]) {
    await storeArtifact(db, { tag });
    const { id } = await service.submit({ artifact: tag, parents: "none" });
    await until(async () => (await states()).includes("in-progress"));
    await endJobs(db, id);
    await notifyBenchmarkChange(otherDb);
    await until(async () => (await states()).every((state) => state === "completed"));
  }

  await Promise.all(crons.map((cron) => cron.stop()));
  const [row] = await db.many(
    z.object({ jobs: z.number() }),
    sql`select count(*) as jobs from benchmark_job`,
  );
  expect(row?.jobs).toBe(30);
});

test("the lock passes to another server when its holder releases it or ends", async () => {
  const [one, two] = [crypto.randomUUID(), crypto.randomUUID()];

  expect(await acquireDuty(db, "d", one, 60_000)).toBe(true);
  expect(await acquireDuty(otherDb, "d", two, 60_000)).toBe(false);
  expect(await acquireDuty(db, "d", one, 60_000)).toBe(true);
  await releaseDuty(db, "d", one);
  expect(await acquireDuty(otherDb, "d", two, 60_000)).toBe(true);
  await db.run(sql`update benchmark_leader set until = now() - interval '1 ms'`);
  expect(await acquireDuty(db, "d", one, 60_000)).toBe(true);
  expect(await acquireDuty(otherDb, "d", two, 60_000)).toBe(false);
});

test("of many servers that request the lock at the same time, one gets it", async () => {
  const held = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      acquireDuty(i % 2 === 0 ? db : otherDb, "d", crypto.randomUUID(), 60_000),
    ),
  );

  expect(held.filter(Boolean)).toHaveLength(1);
});

test("a server that waits takes over when the holder stops", async () => {
  await storeSuite(db);
  await storeArtifact(db, { tag: "a" });
  const service = aService(db);
  const first = await startBenchmarkCron({ ...service.services, everyMs: never });
  const second = await startBenchmarkCron({
    ...aService(otherDb).services,
    everyMs: never,
    leaseMs: 60,
  });
  await first.stop();

  await service.submit({ artifact: "a" });
  await untilStates("in-progress");

  expect(await states()).toEqual(["in-progress"]);
  await second.stop();
});

test("a failed step stops no other", async () => {
  await storeSuite(db, aSuite({ discover: { everyMinutes: 1 }, artifacts: { from: "npm" } }));
  const source = aSource([aKnownArtifact("a")]);
  source.fails = "npm is away";
  const service = aService(db, { source });
  await storeArtifact(db, { tag: "a" });
  let others = 0;

  const cron = await startBenchmarkCron({
    ...service.services,
    everyMs: never,
    alsoThen: {
      breaks: async () => {
        throw new Error("it broke");
      },
      works: async () => {
        others++;
      },
    },
  });
  await service.submit({ artifact: "a" });
  await untilStates("in-progress");
  await cron.stop();

  expect(others).toBeGreaterThan(0);
  expect(service.logged.join()).toContain("npm is away");
  expect(service.logged.join()).toContain("it broke");
});
