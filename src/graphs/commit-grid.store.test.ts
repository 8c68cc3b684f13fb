import { afterAll, beforeAll, expect, test } from "vitest";
import type { GridFilters } from "#api/commit-grid.ts";
import { allPlaces } from "#core/place-patterns.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { commitGrid } from "./commit-grid.store.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
let repository: string;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
  const many = Object.fromEntries(
    Array.from({ length: 41 }, (_, at) => [`unit-${at}`, { commands: `u${at}` }]),
  );
  for (const [subject, jobs] of [
    ["First 100%", { a: { commands: "good" }, b: { commands: "bad" } }],
    ["Second", { a: { commands: "good" } }],
    ["Large", { ...many, odd: { commands: "odd", tags: { kind: "lint" } } }],
  ] as const) {
    farm.repository.write({ ".grange/farm.yml": JSON.stringify({ version: 1, jobs }) });
    farm.repository.commit(subject);
    const { graph } = await farm.submit({});
    repository = graph.repository;
    if (subject === "First 100%") {
      await farm.work((script) =>
        script.includes("bad")
          ? { exitCode: 1, findings: { errorLines: [{ line: 3n, text: "expected 3, got 4" }] } }
          : {},
      );
    }
  }
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const read = (request: Partial<Parameters<typeof commitGrid>[1]> = {}) =>
  db.transaction((tx) => commitGrid(tx, { repository, limit: 30, places: allPlaces, ...request }));
const subjects = async (filters: GridFilters) =>
  (await read(filters)).rows.map(({ graph }) => graph.subject);

test("a graph of more than 40 jobs makes kinds of the columns", async () => {
  const { columns, rows } = await read({ limit: 1 });

  expect(columns).toBe("kind");
  expect(rows[0]?.cells).toMatchObject([
    { column: "unit", jobs: 41, failed: 0 },
    { column: "lint", job: "odd", jobs: 1 },
  ]);
});

test("a failed job's cell has the first error line, and older pages follow", async () => {
  const newest = await read({ limit: 2 });
  const before = newest.rows[1]?.graph.id;
  expect(newest.before).toBe(before);

  const { rows, before: next } = await read({ columns: "job", before: before as never });

  expect(next).toBeNull();
  expect(rows.map(({ graph }) => graph.subject)).toEqual(["First 100%"]);
  expect(rows[0]?.cells).toEqual([
    { column: "b", state: "failed", job: "b", jobs: 1, failed: 1, failure: "expected 3, got 4" },
    { column: "a", state: "succeeded", job: "a", jobs: 1, failed: 0, failure: null },
  ]);
});

test.each<[GridFilters, string[]]>([
  [{ state: "failed" }, ["First 100%"]],
  [{ text: "100%" }, ["First 100%"]],
  [{ text: "_" }, []],
  [{ text: "SECOND" }, ["Second"]],
  [{ author: "nobody at all" }, []],
  [{ branch: "no-such-branch" }, []],
])("%j finds %j", async (filters, found) => {
  expect(await subjects(filters)).toEqual(found);
});

test("graphs at places that the caller may not read are absent", async () => {
  const places = { everywhere: false, patterns: [{ repository: "another", branch: "*" }] };

  expect((await read({ places })).rows).toEqual([]);
});
