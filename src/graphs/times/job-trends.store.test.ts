import { afterAll, beforeAll, expect, test } from "vitest";
import { allPlaces, noPlaces } from "#core/place-patterns.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import { jobTrends } from "./job-trends.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

/** A Monday at noon. */
const now = new Date("2026-11-23T12:00:00Z");
const dayMs = 24 * 60 * 60_000;

/** Runs the graph of a new commit, and dates it back. `test` takes this time, or fails. */
async function run(daysAgo: number, testMs: number | "fails") {
  farm.repository.write({
    ".grange/jobs.yml":
      "version: 1\njobs:\n  build: {commands: make, inputs: in.txt}\n  test: {commands: ./t, inputs: in.txt}",
    "in.txt": `${daysAgo}`,
  });
  farm.repository.commit(`${daysAgo} ${testMs}`);
  const { id, graph } = await farm.submit({ skipCache: true });
  await farm.work((script) =>
    testMs === "fails" && script.includes("./t") ? { exitCode: 1, log: "error: no\n" } : {},
  );
  await db.run(
    sql`update graph set created_at = ${new Date(now.getTime() - daysAgo * dayMs)} where id = ${id}`,
  );
  if (testMs !== "fails") {
    await db.run(sql`
      update run set finished_at = started_at + make_interval(secs => ${testMs / 1_000})
      where graph_id = ${id} and job = 'test'
    `);
  }
  return { id, repository: graph.repository };
}

test("shows failures and medians of each job by week and by graph", async () => {
  const first = await run(15, 1_000);
  await run(14, 2_000);
  await run(13, 4_000);
  const last = await run(0, "fails");
  const wanted = {
    repository: first.repository,
    branch: null,
    text: "",
    now,
    places: allPlaces,
  };
  const of = (more: Partial<Parameters<typeof jobTrends>[1]>) =>
    db.transaction((tx) => jobTrends(tx, { ...wanted, by: "week", last: 3, ...more }));

  const byWeek = await of({});

  // The week of the 2nd is older than three weeks; that of the 9th has two graphs.
  expect(byWeek.buckets.map(({ at }) => at.slice(0, 10))).toEqual(["2026-11-09", "2026-11-23"]);
  const [test, build] = byWeek.jobs;
  expect(test).toMatchObject({
    name: "test",
    runs: 3,
    failures: 1,
    medianMs: 3_000,
    points: [
      { bucket: 0, runs: 2, failures: 0, medianMs: 3_000 },
      { bucket: 1, runs: 1, failures: 1, medianMs: null },
    ],
  });
  expect(build).toMatchObject({ name: "build", runs: 3, failures: 0 });

  const byGraph = await of({ by: "graph", last: 2, text: "TES" });
  expect(byGraph.buckets.map(({ graph }) => graph?.id)).toContain(last.id);
  expect(byGraph.buckets.length).toBe(2);
  expect(byGraph.jobs).toMatchObject([{ name: "test", runs: 2, failures: 1, medianMs: 4_000 }]);
  expect(byGraph.isCut).toBe(false);

  expect((await of({ branch: "other" })).jobs).toEqual([]);
  expect(await of({ places: noPlaces })).toMatchObject({ buckets: [], jobs: [] });
});
