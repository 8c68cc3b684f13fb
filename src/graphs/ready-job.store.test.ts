import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import { keepTaken, postponeJob, takeReadyJobs } from "./ready-job.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

test("a job that was postponed waits as long as that said, though its turn goes on", async () => {
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
