import { afterAll, expect, test } from "vitest";
import { examiningDb } from "../../test/support/examined-rows.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { farmOfReruns } from "./reruns/farm-of-reruns.fixture.ts";

const jobs = 300;

const { db, take } = examiningDb(await freshDatabase());
const farm = await farmOfReruns(db);

afterAll(async () => {
  await farm.stop();
  await db.close();
});

function jobsThatNeedOne(count: number): string {
  const lines = Array.from(
    { length: count },
    (_, i) => `  t${i}: {needs: [build], inputs: [], commands: "echo ${i}"}`,
  );
  return ["  build: {inputs: [], commands: make}", ...lines].join("\n");
}

test("the check of a large graph's edges reads each job once, although it was planned for small graphs", async () => {
  // Each connection plans the check once. The small graphs are stored by all connections.
  await Promise.all(Array.from({ length: 10 }, () => farm.graphOf(jobsThatNeedOne(1))));
  take();

  await farm.graphOf(jobsThatNeedOne(jobs));

  const check = take().find(({ text }) => text.includes("from new_edge"));
  // Two jobs for each edge; nodes of the plan above these lookups count again.
  expect(check?.rows).toBeGreaterThanOrEqual(3 * jobs);
  expect(check?.rows).toBeLessThan(10 * jobs);
});
