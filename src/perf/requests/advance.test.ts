import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { aSuite, emptyLab, storeArtifact, storeSuite } from "../perf.fixture.ts";
import { aPair, aService, endJobs, jobsIn, measureAll, statesIn } from "./requests.fixture.ts";

const url = await freshDatabase();
const db = openPostgres({ url });
const otherDb = openPostgres({ url });
beforeEach(() => emptyLab(db));

const jobs = (meant = sql`true`) => jobsIn(db, meant);
const required = () => jobs(sql`not optional`);
const states = () => statesIn(db);

describe("a request begins", () => {
  test("with its jobs, and with those that its parent lacks in any section, whatever the parent's age", async () => {
    await storeSuite(db);
    const parent = await storeArtifact(db, { tag: "parent", datedAt: new Date("2011-01-01") });
    await storeArtifact(db, { tag: "child", parent });
    const service = aService(db);
    await service.submit({ artifact: "child" });

    await service.advance();

    expect(service.logged).toEqual([]);
    const found = await required();
    expect(found.filter(({ purpose }) => purpose === "own")).toHaveLength(5);
    expect(found.filter(({ purpose }) => purpose === "backfill")).toMatchObject([
      { tag: "parent", section: "compile", profile: "check", set: 0 },
      { tag: "parent", section: "compile", profile: "check", set: 1 },
      { tag: "parent", section: "compile", profile: "emit", set: 0 },
      { tag: "parent", section: "compile", profile: "emit", set: 1 },
      { tag: "parent", section: "runtime", profile: "" },
    ]);
  });

  test("without jobs for a parent that has all results", async () => {
    const { parent } = await aPair(db);
    await measureAll(db, parent.id);
    const service = aService(db);
    await service.submit({ artifact: "child" });

    await service.advance();

    expect((await jobs()).map(({ purpose }) => purpose)).not.toContain("backfill");
  });

  test("with pairs if it requests them and the parent has the backend", async () => {
    await storeSuite(db);
    const parent = await storeArtifact(db, { tag: "parent", backends: ["js"] });
    await storeArtifact(db, { tag: "child", parent });
    const service = aService(db);
    await service.submit({
      artifact: "child",
      backends: ["js", "native"],
      paired: true,
      parents: "none",
    });

    await service.advance();

    const found = await required();
    expect(found.filter(({ purpose }) => purpose === "own")).toHaveLength(10);
    expect(found.filter(({ purpose }) => purpose === "paired")).toHaveLength(5);
  });

  test("completely or not at all: a failure leaves nothing behind, and stops no other request", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "bad" });
    await storeArtifact(db, { tag: "good" });
    await db.script(`
      create function break_bad() returns trigger language plpgsql as $$
      begin
        if new.section = 'runtime' and new.artifact_id = (select id from benchmark_artifact where tag = 'bad')
        then raise exception 'no room'; end if;
        return new;
      end $$;
      create trigger break_bad before insert on benchmark_job for each row execute function break_bad();
    `);
    const service = aService(db);
    await service.submit({ artifact: "bad" });
    await service.submit({ artifact: "good" });

    await service.advance();

    expect(await states()).toEqual({ bad: "artifacts-ready", good: "in-progress" });
    expect(await jobs(sql`tag = 'bad'`)).toEqual([]);
    expect(service.logged.join()).toContain("could not begin");
    await db.script("drop trigger break_bad on benchmark_job; drop function break_bad");
  });

  test("once, even if two servers start it", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });
    await storeArtifact(db, { tag: "b" });
    const service = aService(db);
    await service.submit({ artifact: "a" });
    await service.submit({ artifact: "b" });

    await Promise.all(
      [service, aService(otherDb), service, aService(otherDb)].map((each) => each.advance()),
    );

    expect(Object.values(await states()).toSorted()).toEqual(["artifacts-ready", "in-progress"]);
    expect(await required()).toHaveLength(5);
  });

  test("alone, unless its suite allows more and all jobs of one of its sets have started", async () => {
    await aPair(db, aSuite({ requestsAtOnce: 2 }));
    const service = aService(db);
    await service.submit({ artifact: "parent" });
    await service.submit({ artifact: "child" });
    await service.advance();
    expect(await states()).toEqual({ parent: "in-progress", child: "artifacts-ready" });

    await db.run(sql`
      update benchmark_job set state = 'success', started_at = created_at, ended_at = created_at
      where benchmark_set = 1 and not optional
    `);
    await service.advance();

    expect(await states()).toEqual({ parent: "in-progress", child: "in-progress" });
    // The child also waits for the parent's own jobs in progress: none of them is inserted twice.
    expect((await required()).filter(({ tag }) => tag === "parent")).toHaveLength(5);
  });
});

test("a changed suite applies to the next request, not to the one in progress", async () => {
  await storeSuite(db);
  await storeArtifact(db, { tag: "a" });
  const service = aService(db);
  const { id } = await service.submit({ artifact: "a" });
  await service.advance();
  const digests = () =>
    db.many(
      z.object({ digest: z.string() }),
      sql`select distinct suite_digest as digest from benchmark_job`,
    );
  const before = await digests();

  await storeSuite(db, aSuite({ description: "more" }));
  await service.advance();
  expect(await digests()).toEqual(before);
  await endJobs(db, id);
  await service.advance();
  await service.submit({ artifact: "a" });
  await service.advance();

  expect(await digests()).toHaveLength(2);
});
