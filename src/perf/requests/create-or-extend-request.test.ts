import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { aSuite, emptyLab, storeArtifact, storeSuite } from "../perf.fixture.ts";
import { aService, endJobs, measureAll, requestsIn } from "./requests.fixture.ts";

const url = await freshDatabase();
const db = openPostgres({ url });
const otherDb = openPostgres({ url });
beforeEach(() => emptyLab(db));

const requests = () => requestsIn(db);
const jobs = async () => {
  const [row] = await db.many(
    z.object({ jobs: z.number() }),
    sql`select count(*) as jobs from benchmark_job`,
  );
  return row?.jobs;
};

describe("a repeated request", () => {
  test("from two clients through two servers is one request", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });

    const answers = await Promise.all(
      [db, otherDb, db, otherDb].map((each) => aService(each).submit({ artifact: "a" })),
    );

    expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual([
      "created",
      "nothing-missing",
      "nothing-missing",
      "nothing-missing",
    ]);
    expect(await requests()).toHaveLength(1);
  });

  test("with more cases gets the missing jobs", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });
    const service = aService(db);
    await service.submit({ artifact: "a" });

    const answered = await service.submit({ artifact: "a", backends: ["native"] });

    expect(answered.outcome).toBe("added");
    expect(await requests()).toMatchObject([{ backends: ["js", "native"] }]);
    expect((await service.submit({ artifact: "a", backends: ["js"] })).outcome).toBe(
      "nothing-missing",
    );
  });

  test("in progress gets the missing jobs before the answer", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });
    const service = aService(db);
    await service.submit({ artifact: "a" });
    await service.advance();
    const before = await jobs();

    const answered = await service.submit({ artifact: "a", backends: ["native"] });

    expect(answered).toMatchObject({ outcome: "added" });
    // Two targets, each with two profiles of two sets, and the runtime section.
    expect(before).toBe(10);
    expect(await jobs()).toBe(20);
    expect(await requests()).toMatchObject([{ state: "in-progress" }]);
  });

  test("with more runs uses the largest number, and another job adds those that a running job does not make", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });
    const service = aService(db);
    await service.submit({ artifact: "a", backends: ["js"], runs: 5 });
    await service.advance();

    const answers = await Promise.all(
      [db, otherDb, db].map((each, i) =>
        aService(each).submit({ artifact: "a", backends: ["js"], runs: [9, 7, 9][i] ?? 0 }),
      ),
    );
    const fewer = await service.submit({ artifact: "a", backends: ["js"], runs: 5 });

    expect(answers.filter(({ outcome }) => outcome === "added").length).toBeGreaterThan(0);
    expect(fewer).toMatchObject({ outcome: "nothing-missing" });
    const runs = await db.many(
      z.object({ runs: z.number(), jobs: z.number() }),
      sql`select runs, count(*) as jobs from benchmark_job group by runs order by runs`,
    );
    expect(runs[0]).toEqual({ runs: 5, jobs: 10 });
    expect(runs.at(-1)).toEqual({ runs: 9, jobs: 10 });
  });

  test("with fewer runs than before measures nothing, with more runs it measures again", async () => {
    await storeSuite(db);
    const artifact = await storeArtifact(db, { tag: "a" });
    await measureAll(db, artifact.id, "js", { iterations: 5 });
    const service = aService(db);
    const open = async () => {
      const { id } = await service.submit({ artifact: "a", runs: 5 });
      await service.advance();
      return (await requests()).filter(({ state }) => state === "in-progress").length + id.length;
    };

    expect(await open()).toBe(36);
    await service.submit({ artifact: "a", runs: 6 });
    await service.advance();

    expect(await requests()).toMatchObject([{ state: "completed" }, { state: "in-progress" }]);
  });

  test("with fewer runs than the suite requires is refused, and the error names the limits", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });

    await expect(aService(db).submit({ artifact: "a", runs: 2 })).rejects.toThrow(
      /demo runs each case 3 times, .* request 3 to 50 runs/,
    );
  });

  test("after the end of the first uses its results, and ends at once", async () => {
    await storeSuite(db);
    const artifact = await storeArtifact(db, { tag: "a" });
    const service = aService(db);
    const first = await service.submit({ artifact: "a" });
    await service.advance();
    await endJobs(db, first.id);
    await measureAll(db, artifact.id);
    await service.advance();

    const second = await service.submit({ artifact: "a" });
    await service.advance();

    expect(second.outcome).toBe("created");
    expect(second.id).not.toBe(first.id);
    expect((await requests()).map(({ state }) => state)).toEqual(["completed", "completed"]);
    expect(await jobs()).toBe(10);
  });

  test("with another parent is refused while the first is in progress", async () => {
    await storeSuite(db);
    const parent = await storeArtifact(db, { tag: "p" });
    await storeArtifact(db, { tag: "other" });
    await storeArtifact(db, { tag: "a", parent });
    const service = aService(db);
    await service.submit({ artifact: "a" });

    await expect(service.submit({ artifact: "a", parent: "other" })).rejects.toThrow(/another/);
  });
});

describe("parents without results", () => {
  async function aLine(length: number) {
    let parent: Awaited<ReturnType<typeof storeArtifact>> | undefined;
    const start = Date.UTC(2026, 5, 1);
    for (let day = 0; day < length; day++) {
      parent = await storeArtifact(db, {
        tag: `n-${String(day).padStart(2, "0")}`,
        datedAt: new Date(start + day * 86_400_000),
        ...(parent === undefined ? {} : { parent }),
      });
    }
  }

  test("are requested first, back to the first that has results", async () => {
    await storeSuite(db);
    await aLine(6);
    const [measured] = await db.many(
      z.object({ id: z.number() }),
      sql`select id from benchmark_artifact where tag = 'n-02'`,
    );
    await measureAll(db, measured?.id ?? 0);

    const answered = await aService(db).submit({ artifact: "n-05" });

    expect(answered.parents).toEqual(["n-04", "n-03"]);
    expect((await requests()).map(({ tag }) => tag)).toEqual(["n-03", "n-04", "n-05"]);
  });

  test("are requested at most 29 days back", async () => {
    await storeSuite(db);
    await aLine(40);

    expect((await aService(db).submit({ artifact: "n-39" })).parents).toHaveLength(29);
  });

  test("are not measured unless requested", async () => {
    await storeSuite(db);
    await aLine(3);

    expect((await aService(db).submit({ artifact: "n-02", parents: "none" })).parents).toEqual([]);
  });

  test("start before their children", async () => {
    await storeSuite(db);
    await aLine(2);
    const service = aService(db);
    await service.submit({ artifact: "n-01" });

    await service.advance();

    expect(await requests()).toMatchObject([
      { state: "in-progress" },
      { state: "artifacts-ready" },
    ]);
  });

  test("are requested even if a search has requested a part of the artifact", async () => {
    await storeSuite(db);
    await aLine(3);
    const service = aService(db);
    await service.submit({ artifact: "n-02", benchmarks: ["alpha"], parents: "alone" });

    const answered = await service.submit({ artifact: "n-02" });

    expect(answered).toMatchObject({ outcome: "added", parents: ["n-01", "n-00"] });
    expect(answered.sentence).toContain("2 unmeasured artifacts before it");
    expect(await service.submit({ artifact: "n-02" })).toMatchObject({
      outcome: "nothing-missing",
    });
  });
});

test("a request with only optional jobs waits for them", async () => {
  await storeSuite(db);
  await storeArtifact(db, { tag: "a" });
  const service = aService(db);
  const { id } = await service.submit({ artifact: "a", targets: ["linux-arm64"] });

  await service.advance();
  expect(await requests()).toMatchObject([{ state: "in-progress" }]);

  await endJobs(db, id);
  await service.advance();
  expect(await requests()).toMatchObject([{ state: "completed" }]);
});

test("a request fails if its suite no longer measures it when its turn comes", async () => {
  await storeSuite(db);
  await storeArtifact(db, { tag: "a", backends: ["js"] });
  const service = aService(db);
  await service.submit({ artifact: "a", benchmarks: ["gamma"] });
  const { compile } = aSuite();
  const { gamma: _, ...others } = compile?.benchmarks ?? {};
  await storeSuite(
    db,
    aSuite({ compile: { ...compile, command: ["{tool}"], benchmarks: others } }),
  );

  await service.advance();

  expect(await requests()).toMatchObject([{ state: "failed" }]);
});
