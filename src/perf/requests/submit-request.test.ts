import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { aSuite, emptyLab, storeArtifact, storeSuite } from "../perf.fixture.ts";
import { aDesk, aKnownArtifact, aSource, endJobs, measureAll } from "./requests.fixture.ts";

const url = await freshDatabase();
const db = openPostgres({ url });
const otherDb = openPostgres({ url });
beforeEach(() => emptyLab(db));

const Row = z.object({ tag: z.string(), state: z.string(), backends: z.array(z.string()) });
const requests = () =>
  db.many(
    Row,
    sql`
      select tag, state, backends from benchmark_request as r join benchmark_artifact as a on a.id = r.artifact_id
      order by tag
    `,
  );
const jobs = async () => {
  const [row] = await db.many(
    z.object({ jobs: z.number() }),
    sql`select count(*) as jobs from benchmark_job`,
  );
  return row?.jobs;
};

describe("what nobody could measure is refused, with what there is", () => {
  test.each([
    { title: "a suite", request: { artifact: "a", suite: "else" }, says: /no suite "else".*demo/ },
    { title: "a backend", request: { artifact: "a", backends: ["wasm"] }, says: /js, native/ },
    { title: "a profile", request: { artifact: "a", profiles: ["doc"] }, says: /check, emit/ },
    { title: "a target", request: { artifact: "a", targets: ["vax"] }, says: /linux-x64/ },
    { title: "a benchmark", request: { artifact: "a", benchmarks: ["x"] }, says: /alpha, beta/ },
    {
      title: "a backend that the artifact does not have",
      request: { artifact: "js-only", backends: ["native"] },
      says: /it has js/,
    },
  ])("$title", async ({ request, says }) => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });
    await storeArtifact(db, { tag: "js-only", backends: ["js"] });

    await expect(aDesk(db).submit(request)).rejects.toThrow(says);
    expect(await requests()).toEqual([]);
  });
});

describe("a tag that nobody knows", () => {
  const sourced = aSuite({ artifacts: { from: "npm" } });

  test("is looked for, with the line that it belongs to", async () => {
    await storeSuite(db, sourced);
    const source = aSource([
      aKnownArtifact("n-1"),
      aKnownArtifact("n-2", { parent: "n-1", datedAt: new Date("2026-06-02T00:00:00Z") }),
    ]);

    const answered = await aDesk(db, { source }).submit({ artifact: "n-2" });

    expect(answered).toMatchObject({ outcome: "created", parents: ["n-1"] });
    expect(source.asked).toBe(1);
  });

  test("is refused when the source does not know it either; asking again and again looks once", async () => {
    await storeSuite(db, sourced);
    const desk = aDesk(db, { source: aSource([]) });

    const answers = await Promise.allSettled([
      desk.submit({ artifact: "no" }),
      desk.submit({ artifact: "no" }),
      desk.submit({ artifact: "nor-this" }),
    ]);
    await expect(desk.submit({ artifact: "no" })).rejects.toThrow(/the source has no no/);

    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(desk.source.asked).toBe(1);
    desk.clock.pass(60_000);
    await expect(desk.submit({ artifact: "no" })).rejects.toThrow(/the source has no/);
    expect(desk.source.asked).toBe(2);
  });

  test("is refused with the source's own words while it does not answer, and asked for once", async () => {
    await storeSuite(db, sourced);
    const source = aSource([]);
    source.fails = "npm is away";
    const desk = aDesk(db, { source });

    await expect(desk.submit({ artifact: "a" })).rejects.toThrow("npm is away");
    await expect(desk.submit({ artifact: "b" })).rejects.toThrow("npm is away");
    expect(source.asked).toBe(1);
  });

  test("that somebody waits for is ready when it is found by another's asking", async () => {
    await storeSuite(db, sourced);
    const desk = aDesk(db, { source: aSource([aKnownArtifact("5.9.3", { kind: "try" })]) });
    await desk.submit({ artifact: "5.9.3", waitForArtifacts: true });

    const answered = await desk.submit({ artifact: "5.9.3" }, "bob");

    expect(answered.outcome).toBe("nothing-missing");
    expect(await requests()).toMatchObject([{ state: "artifacts-ready" }]);
  });

  test("of a suite without a source needs tarballs", async () => {
    await storeSuite(db);

    await expect(aDesk(db).submit({ artifact: "no" })).rejects.toThrow(/tarball/);
  });
});

describe("a try of what somebody built", () => {
  const digest = `${"a".repeat(64)}/3`;

  test("is compared with where the main line stands", async () => {
    await storeSuite(db);
    const parent = await storeArtifact(db, { tag: "main-1" });
    await measureAll(db, parent.id);

    await aDesk(db).submit({ artifact: "mine", tarballs: { js: digest }, pr: 7 });

    const [row] = await db.many(
      z.object({ kind: z.string(), parent: z.string(), pr: z.number() }),
      sql`
        select r.kind, p.tag as parent, r.pr from benchmark_request as r
        join benchmark_artifact as p on p.id = r.parent_id
      `,
    );
    expect(row).toEqual({ kind: "try", parent: "main-1", pr: 7 });
  });

  test("needs its bytes", async () => {
    await storeSuite(db);
    const desk = aDesk(db);
    desk.missing.add(digest);

    await expect(desk.submit({ artifact: "mine", tarballs: { js: digest } })).rejects.toThrow(
      /upload/,
    );
  });

  test("keeps its bytes: the same tag with others is refused", async () => {
    await storeSuite(db);
    const desk = aDesk(db);
    await desk.submit({ artifact: "mine", tarballs: { js: digest } });

    await expect(
      desk.submit({ artifact: "mine", tarballs: { js: `${"b".repeat(64)}/3` } }),
    ).rejects.toThrow(/tag of its own/);
  });

  test("may wait for what is not built yet", async () => {
    await storeSuite(db);

    await aDesk(db).submit({ artifact: "mine", waitForArtifacts: true });

    expect(await requests()).toMatchObject([{ tag: "mine", state: "waiting-for-artifacts" }]);
  });
});

describe("asked for again", () => {
  test("by two at once, through two servers, there is one request", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });

    const answers = await Promise.all(
      [db, otherDb, db, otherDb].map((each) => aDesk(each).submit({ artifact: "a" })),
    );

    expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual([
      "created",
      "nothing-missing",
      "nothing-missing",
      "nothing-missing",
    ]);
    expect(await requests()).toHaveLength(1);
  });

  test("with more, what is missing is added", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });
    const desk = aDesk(db);
    await desk.submit({ artifact: "a" });

    const answered = await desk.submit({ artifact: "a", backends: ["native"] });

    expect(answered.outcome).toBe("added");
    expect(await requests()).toMatchObject([{ backends: ["js", "native"] }]);
    expect((await desk.submit({ artifact: "a", backends: ["js"] })).outcome).toBe(
      "nothing-missing",
    );
  });

  test("while it is measured, the missing jobs are inserted with the answer", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });
    const desk = aDesk(db);
    await desk.submit({ artifact: "a" });
    await desk.advance();
    const before = await jobs();

    const answered = await desk.submit({ artifact: "a", backends: ["native"] });

    expect(answered).toMatchObject({ outcome: "added" });
    // Two targets, each with two profiles of two sets, and the runtime section.
    expect(before).toBe(10);
    expect(await jobs()).toBe(20);
    expect(await requests()).toMatchObject([{ state: "in-progress" }]);
  });

  test("after it has ended, a new request finds the results, and ends at once", async () => {
    await storeSuite(db);
    const artifact = await storeArtifact(db, { tag: "a" });
    const desk = aDesk(db);
    const first = await desk.submit({ artifact: "a" });
    await desk.advance();
    await endJobs(db, first.id);
    await measureAll(db, artifact.id);
    await desk.advance();

    const second = await desk.submit({ artifact: "a" });
    await desk.advance();

    expect(second.outcome).toBe("created");
    expect(second.id).not.toBe(first.id);
    expect((await requests()).map(({ state }) => state)).toEqual(["completed", "completed"]);
    expect(await jobs()).toBe(10);
  });

  test("with another parent while it is under way, it is refused", async () => {
    await storeSuite(db);
    const parent = await storeArtifact(db, { tag: "p" });
    await storeArtifact(db, { tag: "other" });
    await storeArtifact(db, { tag: "a", parent });
    const desk = aDesk(db);
    await desk.submit({ artifact: "a" });

    await expect(desk.submit({ artifact: "a", parent: "other" })).rejects.toThrow(/another/);
  });
});

describe("parents that nobody has measured", () => {
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

  test("are asked for first, back to the first that has results", async () => {
    await storeSuite(db);
    await aLine(6);
    const [measured] = await db.many(
      z.object({ id: z.number() }),
      sql`select id from benchmark_artifact where tag = 'n-02'`,
    );
    await measureAll(db, measured?.id ?? 0);

    const answered = await aDesk(db).submit({ artifact: "n-05" });

    expect(answered.parents).toEqual(["n-04", "n-03"]);
    expect((await requests()).map(({ tag }) => tag)).toEqual(["n-03", "n-04", "n-05"]);
  });

  test("are asked for at most 29 days back", async () => {
    await storeSuite(db);
    await aLine(40);

    expect((await aDesk(db).submit({ artifact: "n-39" })).parents).toHaveLength(29);
  });

  test("are left alone when nobody wants them", async () => {
    await storeSuite(db);
    await aLine(3);

    expect((await aDesk(db).submit({ artifact: "n-02", parents: "none" })).parents).toEqual([]);
  });

  test("begin before their children", async () => {
    await storeSuite(db);
    await aLine(2);
    const desk = aDesk(db);
    await desk.submit({ artifact: "n-01" });

    await desk.advance();

    expect(await requests()).toMatchObject([
      { state: "in-progress" },
      { state: "artifacts-ready" },
    ]);
  });
});
