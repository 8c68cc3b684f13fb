import { afterAll, beforeAll, expect, test } from "vitest";
import { PretendedWorker, pool } from "#graphs/chunks/workers-of-chunks.fixture.ts";
import { farmOfKinds } from "#graphs/kinds/farm-of-kinds.fixture.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { graphFailures } from "./graph-failures.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfKinds>>;
beforeAll(async () => {
  farm = await farmOfKinds(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

test("the failure of a job with items has the log of a batch with a failed item", async () => {
  const worker = new PretendedWorker(farm, "worker-of-items");
  await worker.come();
  const id = await farm.submitJobs(
    `  c:\n    commands: "run # ${Date.now()}"\n    inputs: []\n    platform: {pool: ${pool}}\n    chunks: {items: [good, bad], max: 1}\n`,
  );

  for (;;) {
    await farm.settle();
    const batch = await worker.take();
    if (batch === undefined) break;
    const fails = batch.items.includes("bad");
    await batch.finish({ fails, log: `run ${batch.items.join()}\n${fails ? "error: bad\n" : ""}` });
  }
  const services = { db, blobsOf: () => farm.store };
  const found = await graphFailures(services, id, true);
  const withoutLogs = await graphFailures(services, id, false);

  expect(found?.failures).toMatchObject([{ job: "c", message: expect.stringContaining("bad") }]);
  expect(found?.failures[0]?.log?.lines).toContainEqual({ text: "error: bad", isError: true });
  expect(withoutLogs?.failures).toMatchObject([{ job: "c", log: null }]);
});
