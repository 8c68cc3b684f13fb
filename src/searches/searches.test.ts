import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { StartSearch } from "#api/search.ts";
import { allPlaces } from "#core/place-patterns.ts";
import { sql } from "#db/sql.ts";
import { listGraphs } from "#graphs/graph-summary.store.ts";
import { jobDetail } from "#graphs/job-detail.store.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { cancelSearch } from "./cancel-search.ts";
import { type AnswerAt, farmOfSearches } from "./farm-of-searches.fixture.ts";
import { forgetGraphsOfSearches, graphsOfRunningSearches } from "./forget-graphs.store.ts";
import { hasRunningSearch } from "./open-work.store.ts";
import { commitsOfSearch, type SearchId } from "./search.store.ts";
import { startSearch } from "./start-search.ts";
import { mostUnderWay, stepSearches } from "./step-search.ts";

const db = await freshDb();
const { farm, services, commitHistory, start, searchOf, carryOn } = await farmOfSearches(db);
beforeEach(async () => {
  // Executions that one test leaves must not reach the next test's worker.
  await farm.work();
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

function inOrder(places: readonly number[]): number[] {
  return places.toSorted((a, b) => a - b);
}

const badFrom =
  (first: number): AnswerAt =>
  (place) => ({ exitCode: place >= first ? 1 : 0 });

test("graphs are kept while their search runs, and can be deleted after it was cancelled", async () => {
  const { commits } = commitHistory(3);
  const { id } = await start({ kind: "bisect", good: commits[0], bad: commits[2] });
  if (id === undefined) throw new Error("there is no search");
  await stepSearches(services);
  const graphsOf = async () =>
    (await commitsOfSearch(db, id, sql`true`, 10)).flatMap(({ graphId }) => graphId ?? []);
  const graphs = await graphsOf();
  expect(graphs.length).toBeGreaterThan(0);
  expect((await graphsOfRunningSearches(db, graphs)).toSorted()).toEqual(graphs.toSorted());

  await cancelSearch(db, farm.queue, id, everybody);

  expect(await graphsOfRunningSearches(db, graphs)).toEqual([]);
  await forgetGraphsOfSearches(db, graphs);
  expect(await graphsOf()).toEqual([]);
});

test("a running search is open work of the farm", async () => {
  const { commits, mark } = commitHistory(3);
  const isOpen = async () => {
    const [row] = await db.many(
      z.object({ open: z.boolean() }),
      sql`select ${hasRunningSearch} as open`,
    );
    return row?.open;
  };
  const before = await isOpen();
  const { id } = await start({ kind: "bisect", good: commits[0], bad: commits[2] });
  const meanwhile = await isOpen();
  await carryOn(id, mark, badFrom(1));

  expect([before, meanwhile, await isOpen()]).toEqual([false, true, false]);
});

describe("a bisection", () => {
  test("finds the first bad commit with as many probes as forecast", async () => {
    const { commits, mark } = commitHistory(12);
    const asked = { kind: "bisect", good: commits[0], bad: commits[11] };

    const foretold = await start({ ...asked, dryRun: true });
    const { id } = await start(asked);
    const tested = await carryOn(id, mark, badFrom(7));

    expect(foretold).toMatchObject({
      id: undefined,
      forecast: { commits: 11, known: 0, rounds: 4, probes: 4, jobsPerCommit: 2, unknownJobs: 2 },
    });
    expect(tested.length).toBeLessThanOrEqual(4);
    expect(await searchOf(id)).toMatchObject({
      state: "finished",
      message: `${commits[7]?.slice(0, 10)} is the first bad commit`,
      remaining: [{ position: 7, commit: commits[7], standing: "bad" }],
    });
  });

  test("probes several commits at once, in graphs of one set that contain only the needed jobs", async () => {
    const { commits, mark } = commitHistory(10);
    const { id, forecast } = await start({
      kind: "bisect",
      good: commits[0],
      bad: commits[9],
      parallel: 2,
    });

    const tested = await carryOn(id, mark, badFrom(2));

    expect(forecast).toMatchObject({ rounds: 2, probes: 4 });
    expect(tested).toHaveLength(4);
    const { set } = await searchOf(id);
    const graphs = (await listGraphs(db, { limit: 50, places: allPlaces })).filter(
      (graph) => graph.set === set,
    );
    expect(graphs).toHaveLength(4);
    expect(graphs.map(({ jobs }) => jobs)).toEqual([2, 2, 2, 2]);
    expect(graphs.map(({ parent }) => parent?.kind ?? null)).toEqual([
      "bisect",
      "bisect",
      "bisect",
      null,
    ]);
  });

  test("requests nothing that is known", async () => {
    const { commits, mark } = commitHistory(9);
    for (const place of [3, 5]) await farm.submit({ rev: commits[place] ?? "" });
    await farm.work((script) => ({ exitCode: script.includes(`test ${mark} 5`) ? 1 : 0 }));
    const { id, forecast } = await start({ kind: "bisect", good: commits[0], bad: commits[8] });

    const tested = await carryOn(id, mark, badFrom(4));

    expect(forecast).toMatchObject({ known: 2, rounds: 1, probes: 1 });
    expect(tested).toEqual([4]);
  });

  test("avoids commits that cannot be tested, and reports the remaining range", async () => {
    const { commits, mark } = commitHistory(8);
    const { id } = await start({ kind: "bisect", good: commits[0], bad: commits[7] });

    await carryOn(id, mark, (place) =>
      place === 3 || place === 4
        ? { outcome: "infrastructure_error" }
        : { exitCode: place >= 4 ? 1 : 0 },
    );

    expect(await searchOf(id)).toMatchObject({
      state: "finished",
      message: expect.stringContaining("is one of 3") as string,
      remaining: [{ position: 5 }, { position: 4 }, { position: 3, standing: "skipped" }],
    });
  });

  test("accepts a flaky job's result only after equal results, which never come from the cache", async () => {
    const { commits, mark } = commitHistory(4);
    const { id, forecast } = await start({
      kind: "bisect",
      good: commits[0],
      bad: commits[3],
      sameResults: 2,
    });

    // Good commits fail the first time.
    const tested = await carryOn(id, mark, (place, run) => ({
      exitCode: place >= 2 || run === 1 ? 1 : 0,
    }));

    expect(forecast.jobs).toBe(2 * 2 * forecast.probes);
    expect((await searchOf(id)).message).toContain(commits[2]?.slice(0, 10));
    expect(tested.filter((place) => place === 1).length).toBe(3);
  });
});

describe("a backfill", () => {
  test("runs jobs on every commit, even if a graph has left them out", async () => {
    const { commits, mark } = commitHistory(5);
    const first = await farm.submit({ rev: commits[2] ?? "" });
    await farm.work();
    await db.run(sql`delete from run where graph_id = ${first.id} and job = 'test'`);
    await db.run(sql`
      update job set state = 'inactive', set_aside = 'inactive', runs = 0 where graph_id = ${first.id} and name = 'test'
    `);
    await db.run(sql`
      update graph set counts = '{"inactive": 1, "succeeded": 2}' where id = ${first.id}
    `);
    const { id, forecast } = await start({ kind: "backfill", from: commits[0], to: commits[4] });

    const tested = await carryOn(id, mark, () => ({}));

    expect(forecast).toMatchObject({ commits: 4, rounds: null, probes: 4, jobs: 8 });
    // The action cache has the result of the third commit.
    expect(inOrder(tested)).toEqual([1, 3, 4]);
    expect(await searchOf(id)).toMatchObject({ state: "finished", counts: { good: 4 } });
    const [run] = (await jobDetail(db, first.id, "test"))?.runList ?? [];
    expect(run).toMatchObject({ cause: "backfill", why: "backfill of suite:unit by anyone" });
  });

  test("of every third commit ends with the newest", async () => {
    const { commits, mark } = commitHistory(9);
    const { id } = await start({ kind: "backfill", from: commits[0], to: commits[8], step: 3 });

    const tested = await carryOn(id, mark, () => ({}));

    expect(inOrder(tested)).toEqual([2, 5, 8]);
  });

  test("of a long range has a limited number of running graphs", async () => {
    const { commits } = commitHistory(mostUnderWay + 10);
    const { id } = await start({ kind: "backfill", from: commits[0], to: commits.at(-1) });

    await stepSearches(services, id);
    await stepSearches(services, id);

    expect((await searchOf(id)).counts).toEqual({ asked: mostUnderWay, unknown: 9 });
    const newest = await commitsOfSearch(db, id as SearchId, sql`standing = 'asked'`, 1);
    expect(newest[0]?.commit).toBe(commits.at(-1));
    // Otherwise the next test's worker would have to execute all of them.
    await cancelSearch(db, farm.queue, id as SearchId, everybody);
  });
});

test("a cancelled search ends its graphs, and requests no more", async () => {
  const { commits } = commitHistory(6);
  const { id } = await start({ kind: "backfill", from: commits[0], to: commits[3] });
  await stepSearches(services, id);

  const found = await cancelSearch(db, farm.queue, id as SearchId, everybody);
  await stepSearches(services, id);

  expect(found).toBe(true);
  const search = await searchOf(id);
  expect(search).toMatchObject({ state: "cancelled", message: "cancelled by anyone" });
  const graphs = (await listGraphs(db, { limit: 50, places: allPlaces })).filter(
    ({ set }) => set === search.set,
  );
  expect(graphs.map(({ state }) => state)).toEqual(["cancelled", "cancelled", "cancelled"]);
});

test("two servers never execute the same step", async () => {
  const { commits } = commitHistory(6);
  const { id } = await start({ kind: "backfill", from: commits[0], to: commits[5] });

  const took = await Promise.all([1, 2, 3].map(() => stepSearches(services, id)));

  expect(took.reduce((sum, one) => sum + one, 0)).toBe(1);
  expect((await searchOf(id)).counts).toEqual({ asked: 5 });
});

test.each([
  { what: "an empty range", asked: { from: "HEAD", to: "HEAD" }, says: "no commit between" },
  {
    what: "a range the wrong way round",
    asked: { from: "HEAD", to: "HEAD~1" },
    says: "older commit first",
  },
  {
    what: "a selection by state",
    asked: { from: "HEAD~1", to: "HEAD", selection: "state:failed" },
    says: "its own states",
  },
  {
    what: "jobs that are not there",
    asked: { from: "HEAD~1", to: "HEAD", selection: "nonesuch" },
    says: "nonesuch",
  },
])("$what is refused", async ({ asked, says }) => {
  commitHistory(2);

  await expect(start({ kind: "backfill", ...asked })).rejects.toThrow(says);
});

test("a principal without the right to submit cannot start a search", async () => {
  const { commits } = commitHistory(2);
  const request = StartSearch.parse({
    kind: "backfill",
    repository: farm.repository.path,
    selection: "*",
    from: commits[0],
    to: commits[1],
  });

  await expect(startSearch(services, request, { name: "eve", grants: [] })).rejects.toThrow(
    "may not submit",
  );
});
