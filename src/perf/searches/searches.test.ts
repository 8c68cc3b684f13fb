import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { labEpoch } from "../perf.fixture.ts";
import { advanceSearches } from "./advance-searches.ts";
import { aLineToSearch, alpha, ask } from "./search.fixture.ts";
import { BenchmarkSearchId } from "./search.store.ts";
import { startBenchmarkSearch } from "./start-search.ts";

const db = await freshDb();
let lab: Awaited<ReturnType<typeof aLineToSearch>>;
beforeEach(async () => {
  lab = await aLineToSearch(db);
});

const RequestRow = z.object({
  benchmarks: z.array(z.string()),
  backends: z.array(z.string()),
  profiles: z.array(z.string()),
  parent_id: z.number().nullable(),
  because: z.string(),
});

describe("a search on the main line", () => {
  test("bisects to the artifact with the step, and counts the measurements", async () => {
    const found = await lab.searchWith("bisect", (position) => (position < 23 ? 1_000 : 1_050));

    expect(found).toMatchObject({
      state: "found",
      steps: [{ before: "nightly-22", artifact: "nightly-23", exact: true }],
      artifacts: 40,
    });
    expect(found.measured).toBeLessThanOrEqual(8);
    expect(found.sentence).toBe(
      `nightly-23 changed it by +5.00 %; ${found.measured} of 40 artifacts were measured for it.`,
    );
  });

  test("requests only its benchmark, and no parents", async () => {
    await startBenchmarkSearch(
      db,
      {
        suite: "demo",
        kind: "bisect",
        case: alpha,
        from: "nightly-00",
        to: "nightly-39",
        least: 0.01,
      },
      "ada",
      labEpoch,
    );
    await advanceSearches(db, labEpoch, ask);
    // A second server at the same time finds that everything has been requested.
    await advanceSearches(db, labEpoch, ask);

    const asked = await db.many(
      RequestRow,
      sql`select benchmarks, backends, profiles, parent_id, because from benchmark_request order by artifact_id`,
    );
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({
      benchmarks: ["alpha"],
      backends: ["js"],
      profiles: ["check"],
      parent_id: null,
    });
    expect(asked[0]?.because).toMatch(/^bisect [0-9a-f-]{36}$/);
  });

  test("scans artifacts at intervals, including both ends", async () => {
    const found = await lab.searchWith("scan", (position) => 1_000 + position * 20, { every: 13 });

    expect(found.points.map(({ artifact }) => artifact)).toEqual([
      "nightly-00",
      "nightly-13",
      "nightly-26",
      "nightly-39",
    ]);
    expect(found).toMatchObject({ state: "found", steps: [{ exact: false }, {}, {}] });
  });

  test("refines known results until each step is between neighbours", async () => {
    const figure = (position: number) => (position < 7 ? 1_000 : position < 31 ? 1_100 : 900);
    await lab.searchWith("scan", figure, { every: 10 });
    const found = await lab.searchWith("change-points", figure);

    expect(found.steps.map(({ artifact, exact }) => [artifact, exact])).toEqual([
      ["nightly-07", true],
      ["nightly-31", true],
    ]);
    expect(found.measured).toBeLessThan(15);
  });

  test("artifacts without a value are skipped", async () => {
    const found = await lab.searchWith("bisect", (position) =>
      position >= 18 && position <= 22 ? undefined : position < 20 ? 1_000 : 2_000,
    );

    expect(found.steps).toMatchObject([
      { before: "nightly-17", artifact: "nightly-23", exact: false },
    ]);
  });

  test("no step is found when nothing changed", async () => {
    const found = await lab.searchWith("bisect", () => 1_000);

    expect(found).toMatchObject({ state: "nothing", measured: 2, steps: [] });
  });
});

test.each([
  { change: { suite: "none" }, says: 'no suite "none"' },
  { change: { metric: "speed" }, says: "it has instructions, throughput, wall-time" },
  { change: { from: "nightly-99" }, says: 'no artifact "nightly-99"' },
  { change: { from: "nightly-39", to: "nightly-00" }, says: "does not come before" },
  {
    change: { case: { ...alpha, scenario: "warm" } },
    says: "compile alpha check full js linux-x64",
  },
])("$says", async ({ change, says }) => {
  const wanted = {
    suite: "demo",
    kind: "bisect" as const,
    case: alpha,
    from: "nightly-00",
    to: "nightly-39",
    least: 0.01,
    ...change,
  };
  await expect(startBenchmarkSearch(db, wanted, "ada", labEpoch)).rejects.toThrow(says);
});

test("an invalid id is an unknown search", () => {
  expect(BenchmarkSearchId.safeParse("latest").success).toBe(false);
});
