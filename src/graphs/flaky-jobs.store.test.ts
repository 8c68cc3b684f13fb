import { afterAll, beforeAll, expect, test } from "vitest";
import { allPlaces, noPlaces } from "#core/place-patterns.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import { flakyJobs } from "./flaky-jobs.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

/** Commits the content of the only input, and runs the graph of the commit; `test` fails or not. */
async function run(content: string, isBroken: boolean) {
  farm.repository.write({
    ".grange/jobs.yml":
      "version: 1\njobs:\n  build: {commands: make, inputs: in.txt}\n  test: {commands: ./t, inputs: in.txt}",
    "in.txt": content,
  });
  farm.repository.commit(`${content} ${isBroken}`);
  const { id, graph } = await farm.submit({ skipCache: true });
  await farm.work((script) =>
    isBroken && script.includes("./t") ? { exitCode: 1, log: "error: flaky\n" } : {},
  );
  return { id, repository: graph.repository };
}

const wanted = { since: new Date(0), repository: null, places: allPlaces, most: 10 };

test("counts runs of a job, and failures of actions that have also succeeded, with the last failures", async () => {
  await run("one", false);
  const { id, repository } = await run("one", true);
  const passed = await run("one", false);
  // It never succeeded: broken, not flaky.
  await run("two", true);

  const jobs = await flakyJobs(db, wanted);

  expect(jobs).toEqual([
    {
      repository,
      name: "test",
      runs: 4,
      failures: 1,
      actions: 1,
      examples: [
        expect.objectContaining({
          graph: id,
          run: 1,
          outcome: "failed",
          passedIn: passed.id,
          at: expect.any(Date),
        }),
      ],
    },
  ]);
});

test("lists nothing of other repositories, of a later period, and of places that the caller may not read", async () => {
  expect(await flakyJobs(db, { ...wanted, repository: "other" })).toEqual([]);
  expect(await flakyJobs(db, { ...wanted, since: new Date(Date.now() + 60_000) })).toEqual([]);
  expect(await flakyJobs(db, { ...wanted, places: noPlaces })).toEqual([]);
});
