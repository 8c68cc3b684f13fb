import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aSuite, labEpoch, storeJob, storeRequest, storeSuite } from "../perf.fixture.ts";
import { aService } from "../requests/requests.fixture.ts";
import { advanceSearches } from "./advance-searches.ts";
import { aLineToSearch, alpha, ask } from "./search.fixture.ts";
import {
  type BenchmarkSearchId,
  cancelBenchmarkSearch,
  readBenchmarkSearch,
} from "./search.store.ts";
import { viewSearch } from "./search-view.ts";
import { startBenchmarkSearch } from "./start-search.ts";

const db = await freshDb();
let lab: Awaited<ReturnType<typeof aLineToSearch>>;
beforeEach(async () => {
  lab = await aLineToSearch(db);
});

describe("a search with problems", () => {
  const start = (kind: "bisect" | "scan" = "bisect") =>
    startBenchmarkSearch(
      db,
      { suite: "demo", kind, case: alpha, from: "nightly-00", to: "nightly-39", least: 0.01 },
      "ada",
      labEpoch,
    );
  const read = async (id: BenchmarkSearchId) => {
    const search = await readBenchmarkSearch(db, id);
    if (search === undefined) throw new Error("the search is gone");
    return viewSearch(db, search);
  };
  const openTags = async () => {
    const rows = await db.many(
      z.object({ tag: z.string(), benchmarks: z.array(z.string()) }),
      sql`
        select tag, benchmarks from benchmark_request as request
        join benchmark_artifact as artifact on artifact.id = artifact_id
        where request.ended_at is null order by tag
      `,
    );
    return rows.map(({ tag, benchmarks }) => [tag, ...benchmarks].join(" "));
  };

  test("skips artifacts without the case, at once", async () => {
    await db.run(sql`
      update benchmark_artifact set components = components - 'js'
      where tag in ('nightly-19', 'nightly-20', 'nightly-21')
    `);

    const found = await lab.searchWith("bisect", (position) => (position < 20 ? 1_000 : 2_000));

    expect(found).toMatchObject({
      state: "found",
      steps: [{ before: "nightly-18", artifact: "nightly-22", exact: false }],
    });
  });

  test("fails with a reason when there is nothing to compare", async () => {
    const found = await lab.searchWith("bisect", (position) =>
      position === 0 ? undefined : 1_000,
    );

    expect(found).toMatchObject({
      state: "failed",
      sentence: expect.stringContaining(
        "There is no figure of nightly-00, so there is nothing to compare",
      ),
    });
  });

  test("ends when its suite no longer measures the case", async () => {
    const id = await start();
    const { compile } = aSuite();
    const { alpha: _, ...others } = compile?.benchmarks ?? {};
    await storeSuite(
      db,
      aSuite({ compile: { ...compile, command: ["{tool}"], benchmarks: others } }),
    );

    await advanceSearches(db, labEpoch, ask);

    expect(await read(id)).toMatchObject({ state: "failed" });
    expect(await openTags()).toEqual([]);
  });

  test("delays no other search", async () => {
    const bad = await start();
    const good = await start("scan");
    const troubled: typeof ask = async (tx, wanted) => {
      if (wanted.because === `bisect ${bad}`) throw new Error("no luck today");
      return ask(tx, wanted);
    };

    await expect(advanceSearches(db, labEpoch, troubled)).rejects.toThrow("no luck today");

    expect(await read(bad)).toMatchObject({ state: "running", measured: 0 });
    expect((await read(good)).measured).toBe(40);
  });

  test("that is cancelled requests nothing more", async () => {
    const id = await start();
    await advanceSearches(db, labEpoch, ask);
    await lab.measureRequested((position) => position + 1);

    const [cancelled] = await Promise.all([
      db.transaction((tx) => cancelBenchmarkSearch(tx, id, labEpoch)),
      advanceSearches(db, labEpoch, ask),
    ]);
    await lab.measureRequested((position) => position + 1);
    await advanceSearches(db, labEpoch, ask);

    expect(cancelled).toBe(true);
    expect(await read(id)).toMatchObject({ state: "cancelled" });
    expect(await openTags()).toEqual([]);
  });

  test("shares requests with another search of the same artifacts, and both end", async () => {
    const ids = [await start(), await start()];

    await Promise.all([advanceSearches(db, labEpoch, ask), advanceSearches(db, labEpoch, ask)]);
    await advanceSearches(db, labEpoch, ask);
    expect(await openTags()).toEqual(["nightly-00 alpha", "nightly-39 alpha"]);

    for (let round = 0; round < 10; round++) {
      await lab.measureRequested((position) => (position < 5 ? 1 : 2));
      await advanceSearches(db, labEpoch, ask);
    }
    for (const id of ids) {
      expect(await read(id)).toMatchObject({ state: "found", steps: [{ artifact: "nightly-05" }] });
    }
  });

  test("extends a request that measures another benchmark of the artifact, also in progress", async () => {
    const service = aService(db);
    await service.submit({ artifact: "nightly-00", benchmarks: ["beta"], parents: "none" });
    await service.advance();
    const id = await start();

    await advanceSearches(db, labEpoch, ask);

    expect(await openTags()).toEqual(["nightly-00 alpha beta", "nightly-39 alpha"]);
    const added = await db.many(
      z.object({ profile: z.string() }),
      sql`select profile from benchmark_job where benchmarks = '{}' and section = 'compile' and target = 'linux-x64'`,
    );
    expect(added.map(({ profile }) => profile).toSorted()).toEqual(["check", "emit"]);
    // A measurement in progress has no figure yet, which is no failure.
    await advanceSearches(db, labEpoch, ask);
    expect(await read(id)).toMatchObject({ state: "running" });
  });

  test("waits for an optional job that outlives its request", async () => {
    const id = await start();
    await advanceSearches(db, labEpoch, ask);
    const digest = await storeSuite(db, aSuite());
    const [first] = lab.line;
    if (first === undefined) throw new Error("no line");
    const request = await storeRequest(db, { artifact: first, state: "completed" });
    await storeJob(db, { request, artifact: first, digest, optional: true });
    await lab.measureRequested((position) => (position === 0 ? undefined : 1));

    await advanceSearches(db, labEpoch, ask);

    expect(await read(id)).toMatchObject({ state: "running" });
  });
});
