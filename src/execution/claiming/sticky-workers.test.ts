import { afterAll, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aQueue, aRequest, aWorker, never } from "../execution.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

test("among waiting workers, the one that ran a job for the previous commit gets it for the next commit", async () => {
  const queue = await aQueue(db);
  const workers = ["a", "b", "c"].map((name) => aWorker(name));
  for (const worker of workers) await queue.register(worker);
  const jobs = ["build", "lint", "test"];

  /** Records the job that each worker gets from a commit; all workers wait when the commit arrives. */
  const had = async (commit: string, order: readonly string[]) => {
    const requests = order.map((job) =>
      aRequest({ invocation: commit, similarityKeys: [`a.${job}`, "p.any"] }),
    );
    const claims = workers.map((worker) => queue.claim(worker, 1, 60_000, never));
    // Called after the claims, and answered after they have begun to wait.
    for (const worker of workers) await queue.lookAhead(worker, 1);
    await queue.transaction((tx) => queue.submitIn(tx, requests));
    const leased = await Promise.all(claims);
    const jobOf = new Map(
      requests.map(({ id, similarityKeys }) => [id, similarityKeys?.[0] ?? ""]),
    );
    return leased.map(([one]) => one && jobOf.get(one.lease.executionId));
  };
  const first = await had("one", jobs);

  const second = await had("two", jobs.toReversed());
  const third = await had("three", ["test", "build", "lint"]);

  expect(new Set(first)).toEqual(new Set(jobs.map((job) => `a.${job}`)));
  expect(second).toEqual(first);
  expect(third).toEqual(first);
  await queue.stop();
});
