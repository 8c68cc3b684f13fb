import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { Activate, Deactivate, Waive } from "#api/rerun.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import { prepareReadyJobs } from "./graph-runner.ts";
import { keepTaken, postponeJob, stillTaken, takeReadyJobs } from "./ready-job.store.ts";
import { activate, deactivate } from "./reruns/activate.ts";
import { waive } from "./reruns/waive.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

test("a postponed job waits as long as requested, even when the round's lease is extended", async () => {
  const mark = randomUUID();
  farm.repository.write({
    ".grange/jobs.yml": `version: 1\njobs:\n  late: {commands: "x # ${mark}"}\n  slow: {commands: "y # ${mark}"}`,
  });
  farm.repository.commit("Change");
  await farm.submit();
  const taken = await takeReadyJobs(db, 16, 15);
  for (const each of taken.filter(({ job }) => job === "late")) {
    await postponeJob(db, each, 600, "the disk is full");
  }

  await keepTaken(db, taken, 60);

  const rows = await db.many(
    z.object({ name: z.string(), seconds: z.number() }),
    sql`
      select name, extract(epoch from preparing_until - now())::double precision as seconds
      from job order by name
    `,
  );
  expect(rows.map(({ name, seconds }) => ({ name, minutes: Math.round(seconds / 60) }))).toEqual([
    { name: "late", minutes: 10 },
    { name: "slow", minutes: 1 },
  ]);
});

test("a preparation whose inputs were made again meanwhile is dropped", async () => {
  const mark = randomUUID();
  farm.repository.write({
    ".grange/jobs.yml": `version: 1\njobs:\n  a: {commands: "a # ${mark}"}\n  b: {commands: "b # ${mark}", needs: [a]}`,
  });
  farm.repository.commit("Change");
  const { id } = await farm.submit();
  await prepareReadyJobs(farm.parts);
  const [a] = await farm.claim(10_000);
  if (a === undefined) throw new Error("nothing was handed out");
  await farm.queue.finish({ lease: a.lease, outcome: "failed", exitCode: 1 });
  await waive(
    { db, pricePerWorkerMinute: 0 },
    id,
    Waive.parse({ job: "b", on: "a", reason: "x" }),
    everybody,
  );
  const slow = await takeReadyJobs(db, 16, 15);
  expect(slow.map(({ job }) => job)).toContain("b");

  // The job stops being ready, and is ready again, before its preparation is finished.
  const services = { db, pricePerWorkerMinute: 0 };
  await deactivate(services, id, Deactivate.parse({ jobs: ["b"] }), everybody);
  await activate(services, id, Activate.parse({ jobs: ["b"] }), everybody);

  expect((await farm.states(id)).b).toBe("ready");
  const still = await stillTaken(
    db,
    slow.filter(({ graphId }) => graphId === id),
  );
  expect([...still]).toEqual([]);
});
