import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { insertGrant } from "#access/grant.store.ts";
import { everybody, type Grant, type Principal } from "#access/principal.ts";
import { StartSearch } from "#api/search.ts";
import { allPlaces } from "#core/place-patterns.ts";
import { sql } from "#db/sql.ts";
import { listGraphs } from "#graphs/graph-summary.store.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { graphIdOf, type RangeServices } from "./ask-commit.ts";
import { cancelSearch } from "./cancel-search.ts";
import { farmOfSearches } from "./farm-of-searches.fixture.ts";
import { commitsOfSearch, endSearch, type SearchId } from "./search.store.ts";
import { startSearch } from "./start-search.ts";
import { stepSearches } from "./step-search.ts";

const db = await freshDb();
const { farm, services, commitHistory, start, searchOf } = await farmOfSearches(db);
beforeEach(async () => {
  // Executions that one test leaves must not reach the next test's worker.
  await farm.work();
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

test("cancelling a search during a request also ends the requested graph", async () => {
  const { commits } = commitHistory(3);
  const { id } = await start({ kind: "backfill", from: commits[0], to: commits[2] });
  const mirrors: RangeServices["mirrors"] = Object.create(services.mirrors, {
    fetchCommit: {
      value: async (source: string, rev: string) => {
        await cancelSearch(db, farm.queue, id as SearchId, everybody);
        return services.mirrors.fetchCommit(source, rev);
      },
    },
  });

  await stepSearches({ ...services, mirrors }, id);

  const { set } = await searchOf(id);
  const graphs = (await listGraphs(db, { limit: 50, places: allPlaces })).filter(
    (graph) => graph.set === set,
  );
  expect(graphs.map(({ state }) => state)).toEqual(["cancelled"]);
});

test("a failing search does not stop other searches", async () => {
  const { commits } = commitHistory(3);
  const range = { from: commits[0], to: commits[2] };
  const stuck = await start({ kind: "backfill", ...range });
  const other = await start({ kind: "backfill", ...range, selection: "docs" });
  await db.run(sql`
    update range_search set selection = '(', held_until = 'epoch' where id = ${stuck.id ?? null}
  `);

  await expect(stepSearches(services)).rejects.toThrow("something is missing");

  expect((await searchOf(other.id)).counts).toEqual({ asked: 2 });
  await endSearch(db, stuck.id as SearchId, "cancelled", "the test is over");
});

test("a search ends when another principal has used the id of its graph", async () => {
  const { commits } = commitHistory(2);
  const { id } = await start({ kind: "backfill", from: commits[0], to: commits[1] });
  const taken = graphIdOf({ id: id as SearchId }, 1);
  await farm.submit({ id: taken, rev: commits[0] ?? "" });

  await stepSearches(services, id);

  expect(await searchOf(id)).toMatchObject({
    state: "cancelled",
    message: expect.stringContaining(`graph ${taken} is none of this backfill`) as string,
  });
});

test("a named graph with all jobs provides known results", async () => {
  const { commits, mark } = commitHistory(3);
  farm.repository.write({
    ".grange/graphs.yml":
      "version: 1\ngraphs:\n  push: {inactive: docs}\n  some: {select: 'name:test'}\n",
  });
  for (const place of [1, 2]) {
    const definitions = `version: 1\njobs:\n  test: {commands: "named ${mark} ${place}", inputs: [], tags: {suite: unit}}\n  docs: {commands: x, inputs: []}`;
    farm.repository.write({ ".grange/jobs.yml": definitions });
    commits.push(farm.repository.commit(`Named ${place}`));
  }
  await farm.submit({ rev: commits[3] ?? "", graph: "push" });
  await farm.submit({ rev: commits[4] ?? "", graph: "some" });
  await farm.work();

  const { forecast } = await start({
    kind: "backfill",
    from: commits[2],
    to: commits[4],
    dryRun: true,
  });
  farm.repository.git("rm", "--quiet", "--force", ".grange/graphs.yml");

  expect(forecast).toMatchObject({ commits: 2, known: 1 });
});

describe("the result of a graph does not count for its commit", () => {
  const bad = () => ({ exitCode: 1 });

  test.each([
    {
      what: "its definitions were sent along",
      more: (mark: string) => ({
        definitions: {
          "a.yml": `version: 1\njobs:\n  test: {commands: "other ${mark}", inputs: [], tags: {suite: unit}}\n`,
        },
      }),
    },
    { what: "it has some of the jobs only", more: () => ({ select: "name:test" }) },
  ])("when $what", async ({ more }) => {
    const { commits, mark } = commitHistory(3);
    await farm.submit({ rev: commits[1] ?? "", ...more(mark) });
    await farm.work(bad);

    const { forecast } = await start({
      kind: "bisect",
      good: commits[0],
      bad: commits[2],
      selection: "suite:unit | docs",
    });

    expect(forecast.known).toBe(0);
  });

  test("when one of its jobs was customised", async () => {
    const { commits } = commitHistory(3);
    await farm.submit({
      rev: commits[1] ?? "",
      patches: { build: { commands: "build otherwise" } },
    });
    await farm.work();

    const { forecast } = await start({ kind: "bisect", good: commits[0], bad: commits[2] });

    expect(forecast.known).toBe(0);
  });
});

test("cancelling again ends graphs that a crashed server left running", async () => {
  const { commits } = commitHistory(3);
  const { id } = await start({ kind: "backfill", from: commits[0], to: commits[2] });
  await stepSearches(services, id);
  await endSearch(db, id as SearchId, "cancelled", "cancelled by anyone");

  await cancelSearch(db, farm.queue, id as SearchId, everybody);

  const { set } = await searchOf(id);
  const graphs = (await listGraphs(db, { limit: 50, places: allPlaces })).filter(
    (graph) => graph.set === set,
  );
  expect(graphs.map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
});

test("a principal that may only submit gets a graph of the search, and does not change another's graph", async () => {
  const { commits, mark } = commitHistory(2);
  const first = await farm.submit({ rev: commits[1] ?? "" });
  await farm.work((script) =>
    script.includes(`test ${mark}`) ? { outcome: "infrastructure_error" } : {},
  );
  const grant: Grant = {
    verb: "submit",
    repository: "*",
    branch: "*",
    priorityCap: null,
    top: false,
  };
  await db.transaction((tx) => insertGrant(tx, "sam", grant, "anyone"));
  const asked = { repository: farm.repository.path, selection: "suite:unit" };
  const request = { ...asked, kind: "backfill", from: commits[0], to: commits[1] };
  const submitter: Principal = { name: "sam", grants: [grant] };
  const { id } = await startSearch(services, StartSearch.parse(request), submitter);

  await stepSearches(services, id);

  const [commit] = await commitsOfSearch(db, id as SearchId, sql`true`, 1);
  expect(commit).toMatchObject({ standing: "asked" });
  expect(commit?.graphId).not.toBe(first.id);
});
