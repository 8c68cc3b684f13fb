import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { caseKey, type TestCase } from "#core/test-case.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import {
  aSuite,
  emptyLab,
  labEpoch,
  type StoredArtifact,
  storeArtifact,
  storeSuite,
} from "../perf.fixture.ts";
import { caseIds } from "../results/name-figures.store.ts";
import { advanceSearches } from "./advance-searches.ts";
import { askForFigure } from "./ask-for-figure.ts";
import { BenchmarkSearchId, readBenchmarkSearch } from "./search.store.ts";
import { viewSearch } from "./search-view.ts";
import { startBenchmarkSearch } from "./start-search.ts";

const db = await freshDb();
const alpha: TestCase = {
  section: "compile",
  benchmark: "alpha",
  profile: "check",
  scenario: "full",
  backend: "js",
  target: "linux-x64",
};
const ask = askForFigure(() => labEpoch);
let line: StoredArtifact[];

const RequestRow = z.object({
  benchmarks: z.array(z.string()),
  backends: z.array(z.string()),
  profiles: z.array(z.string()),
  parent_id: z.number().nullable(),
  because: z.string(),
});

beforeEach(async () => {
  await emptyLab(db);
  await storeSuite(db, aSuite());
  await db.run(sql`
    insert into benchmark_metric (suite, ordinal, name, nature, unit)
    values ('demo', 1, 'wall-time', 'noisy', 'seconds'), ('demo', 2, 'instructions', 'deterministic', 'instructions')
  `);
  await db.run(sql`
    insert into benchmark_environment (fingerprint, facts, first_seen_at) values ('here', '{}', now())
  `);
  line = [];
  for (let i = 0; i < 40; i++) {
    line.push(
      await storeArtifact(db, {
        tag: `nightly-${String(i).padStart(2, "0")}`,
        datedAt: new Date(labEpoch.getTime() + i * 86_400_000),
      }),
    );
  }
});

/** As if a collector had measured what is asked for: each request ends, and those with a figure have a result. */
async function measureAsked(figure: (position: number) => number | undefined): Promise<number> {
  const caseId = (await caseIds(db, "demo", [alpha])).get(caseKey(alpha)) ?? 0;
  let measured = 0;
  for (const [position, artifact] of line.entries()) {
    const ended = await db.run(sql`
      update benchmark_request set state = 'completed', started_at = now(), ended_at = now()
      where artifact_id = ${artifact.id} and ended_at is null
    `);
    if (ended === 0) continue;
    measured += 1;
    const value = figure(position);
    if (value === undefined) continue;
    await db.run(sql`
      insert into benchmark_result (artifact_id, case_id, environment_id, least, iterations, collector_name, measured_at)
      select ${artifact.id}, ${caseId}, id, ${[1, value]}::float8[], 1, 'c', now() from benchmark_environment
    `);
  }
  return measured;
}

async function searchWith(
  kind: "scan" | "change-points" | "bisect",
  figure: (position: number) => number | undefined,
  more: { every?: number | "week" | "month" } = {},
) {
  const id = await startBenchmarkSearch(
    db,
    {
      suite: "demo",
      kind,
      case: alpha,
      from: "nightly-00",
      to: "nightly-39",
      least: 0.01,
      ...more,
    },
    "ada",
    labEpoch,
  );
  for (let round = 0; round < 60; round++) {
    await advanceSearches(db, labEpoch, ask);
    const now = await readBenchmarkSearch(db, id);
    if (now === undefined) throw new Error("the search is gone");
    if (now.state !== "running") return viewSearch(db, now);
    await measureAsked(figure);
  }
  throw new Error("the search does not end");
}

describe("a search on the main line", () => {
  test("bisects to the artifact that made the step, and says what it took", async () => {
    const found = await searchWith("bisect", (position) => (position < 23 ? 1_000 : 1_050));

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

  test("asks for the one benchmark only, and for no parents", async () => {
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
    // A second server that comes at the same time finds everything asked for.
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

  test("scans every so many, both ends included", async () => {
    const found = await searchWith("scan", (position) => 1_000 + position * 20, { every: 13 });

    expect(found.points.map(({ artifact }) => artifact)).toEqual([
      "nightly-00",
      "nightly-13",
      "nightly-26",
      "nightly-39",
    ]);
    expect(found).toMatchObject({ state: "found", steps: [{ exact: false }, {}, {}] });
  });

  test("refines what is known until each step stands between neighbours", async () => {
    const figure = (position: number) => (position < 7 ? 1_000 : position < 31 ? 1_100 : 900);
    await searchWith("scan", figure, { every: 10 });
    const found = await searchWith("change-points", figure);

    expect(found.steps.map(({ artifact, exact }) => [artifact, exact])).toEqual([
      ["nightly-07", true],
      ["nightly-31", true],
    ]);
    expect(found.measured).toBeLessThan(15);
  });

  test("what gives no figure is gone around", async () => {
    const found = await searchWith("bisect", (position) =>
      position >= 18 && position <= 22 ? undefined : position < 20 ? 1_000 : 2_000,
    );

    expect(found.steps).toMatchObject([
      { before: "nightly-17", artifact: "nightly-23", exact: false },
    ]);
  });

  test("nothing is found where nothing changed", async () => {
    const found = await searchWith("bisect", () => 1_000);

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
  const wish = {
    suite: "demo",
    kind: "bisect" as const,
    case: alpha,
    from: "nightly-00",
    to: "nightly-39",
    least: 0.01,
    ...change,
  };
  await expect(startBenchmarkSearch(db, wish, "ada", labEpoch)).rejects.toThrow(says);
});

test("no search has an id that is none", () => {
  expect(BenchmarkSearchId.safeParse("latest").success).toBe(false);
});
