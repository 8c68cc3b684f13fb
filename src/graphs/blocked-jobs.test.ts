import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { examiningDb } from "../../test/support/examined-rows.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { coalesceJobs } from "./coalescing/coalesce-jobs.ts";
import { expireJobs } from "./expiry/expire-jobs.ts";
import { farmOfReruns } from "./reruns/farm-of-reruns.fixture.ts";
import { jobsByState } from "./times/jobs-by-state.store.ts";

/** The number of jobs that are blocked behind one running job. */
const blocked = 1_400;
/**
 * The limit for rows per statement; a statement that reads the blocked jobs, or a large part of them, is far above it.
 */
const limit = blocked / 10;

const { db, take } = examiningDb(await freshDatabase());
const farm = await farmOfReruns(db);

const waiting = Array.from(
  { length: blocked },
  (_, i) => `  t${i}: {needs: [b], ttl: 1h, commands: x}`,
);

beforeAll(async () => {
  await farm.graphOf([`  b: {inputs: [], commands: "make MARK"}`, ...waiting].join("\n"));
  await farm.prepare();
  const [build] = await farm.claim(0);
  if (build === undefined) throw new Error("nothing was handed out");
  await farm.queue.started(build.lease, new Date());
  await db.script("analyze");
  take();
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

/** Returns statements that read more rows than one job's life explains. */
function dear(): string[] {
  return take()
    .filter(({ rows }) => rows > limit)
    .map(({ rows, text }) => `${rows} rows: ${text}`);
}

test("thousands of blocked jobs cost nothing when another graph's job is prepared, assigned and ended", async () => {
  await farm.graphOf(`  alone: {inputs: [], commands: "alone ${randomUUID()}"}`);
  take();

  await farm.prepare();
  const [leased] = await farm.claim(0);
  if (leased === undefined) throw new Error("nothing was handed out");
  await farm.queue.started(leased.lease, new Date());
  await farm.queue.finish({ lease: leased.lease, outcome: "succeeded", exitCode: 0 });

  expect(dear()).toEqual([]);
});

test("thousands of blocked jobs cost nothing in the servers' periodic queries", async () => {
  const now = new Date();

  await farm.prepare();
  await farm.claim(0);
  await expireJobs(db, farm.queue, now);
  await coalesceJobs(db, farm.queue, now);
  const counted = await jobsByState(db);

  expect(dear()).toEqual([]);
  expect(counted.get("blocked")).toBe(blocked);
});
