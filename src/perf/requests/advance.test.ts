import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Doubt } from "#api/collector.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { aSuite, emptyLab, storeArtifact, storeSuite } from "../perf.fixture.ts";
import type { RequestHooks } from "./request-hooks.ts";
import { aDesk, endJobs, measureAll } from "./requests.fixture.ts";

const url = await freshDatabase();
const db = openPostgres({ url });
const otherDb = openPostgres({ url });
beforeEach(() => emptyLab(db));

const JobRow = z.object({
  tag: z.string(),
  purpose: z.string(),
  state: z.string(),
  section: z.string(),
  profile: z.string(),
  set: z.number(),
  optional: z.boolean(),
});
const jobs = (where = sql`true`) =>
  db.many(
    JobRow,
    sql`
      select tag, purpose, state, section, profile, benchmark_set as set, optional
      from benchmark_job as job join benchmark_artifact as a on a.id = job.artifact_id
      where ${where} order by purpose, tag, section, profile, benchmark_set, target
    `,
  );
const required = () => jobs(sql`not optional`);
const states = async () => {
  const rows = await db.many(
    z.object({ tag: z.string(), state: z.string() }),
    sql`
      select tag, state from benchmark_request as r join benchmark_artifact as a on a.id = r.artifact_id
      order by r.created_at, tag
    `,
  );
  return Object.fromEntries(rows.map(({ tag, state }) => [tag, state]));
};

async function aPair(suite = aSuite()) {
  await storeSuite(db, suite);
  const parent = await storeArtifact(db, { tag: "parent" });
  const child = await storeArtifact(db, { tag: "child", parent });
  return { parent, child };
}

describe("a request begins", () => {
  test("with its jobs, and with what its parent lacks in any section, whatever its age", async () => {
    await storeSuite(db);
    const parent = await storeArtifact(db, { tag: "parent", datedAt: new Date("2011-01-01") });
    await storeArtifact(db, { tag: "child", parent });
    const desk = aDesk(db);
    await desk.submit({ artifact: "child" });

    await desk.advance();

    expect(desk.logged).toEqual([]);
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

  test("without jobs for a parent that has it all", async () => {
    const { parent } = await aPair();
    await measureAll(db, parent.id);
    const desk = aDesk(db);
    await desk.submit({ artifact: "child" });

    await desk.advance();

    expect((await jobs()).map(({ purpose }) => purpose)).not.toContain("backfill");
  });

  test("with pairs where it wants them, and the parent has the backend", async () => {
    await storeSuite(db);
    const parent = await storeArtifact(db, { tag: "parent", backends: ["js"] });
    await storeArtifact(db, { tag: "child", parent });
    const desk = aDesk(db);
    await desk.submit({
      artifact: "child",
      backends: ["js", "native"],
      paired: true,
      parents: "none",
    });

    await desk.advance();

    const found = await required();
    expect(found.filter(({ purpose }) => purpose === "own")).toHaveLength(10);
    expect(found.filter(({ purpose }) => purpose === "paired")).toHaveLength(5);
  });

  test("wholly or not at all: what fails in the middle leaves nothing, and stops no other", async () => {
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
    const desk = aDesk(db);
    await desk.submit({ artifact: "bad" });
    await desk.submit({ artifact: "good" });

    await desk.advance();

    expect(await states()).toEqual({ bad: "artifacts-ready", good: "in-progress" });
    expect(await jobs(sql`tag = 'bad'`)).toEqual([]);
    expect(desk.logged.join()).toContain("could not begin");
    await db.script("drop trigger break_bad on benchmark_job; drop function break_bad");
  });

  test("once, though two servers see its turn come", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });
    await storeArtifact(db, { tag: "b" });
    const desk = aDesk(db);
    await desk.submit({ artifact: "a" });
    await desk.submit({ artifact: "b" });

    await Promise.all([desk, aDesk(otherDb), desk, aDesk(otherDb)].map((each) => each.advance()));

    expect(Object.values(await states()).toSorted()).toEqual(["artifacts-ready", "in-progress"]);
    expect(await required()).toHaveLength(5);
  });

  test("alone, unless the suite lets more and one of its sets has nothing left that nobody began", async () => {
    await aPair(aSuite({ requestsAtOnce: 2 }));
    const desk = aDesk(db);
    await desk.submit({ artifact: "parent" });
    await desk.submit({ artifact: "child" });
    await desk.advance();
    expect(await states()).toEqual({ parent: "in-progress", child: "artifacts-ready" });

    await db.run(sql`
      update benchmark_job set state = 'success', started_at = created_at, ended_at = created_at
      where benchmark_set = 1 and not optional
    `);
    await desk.advance();

    expect(await states()).toEqual({ parent: "in-progress", child: "in-progress" });
    // The parent's own jobs that go on are what its child waits for, too: none is there twice.
    expect((await required()).filter(({ tag }) => tag === "parent")).toHaveLength(5);
  });
});

describe("a request ends", () => {
  const started = async (hooks?: RequestHooks) => {
    const { parent, child } = await aPair();
    await measureAll(db, parent.id);
    const desk = aDesk(db, hooks === undefined ? {} : { hooks });
    const { id } = await desk.submit({ artifact: "child" });
    await desk.advance();
    return { desk, id, child };
  };

  test("when all that holds it up has ended; optional jobs go on", async () => {
    const { desk, id } = await started();

    await endJobs(db, id, "success", undefined, sql`not optional`);
    await desk.advance();

    expect(await states()).toEqual({ child: "completed" });
    expect(await jobs(sql`optional and state = 'queued'`)).toHaveLength(5);
  });

  test("not before", async () => {
    const { desk, id } = await started();

    await endJobs(db, id, "success", undefined, sql`not optional and section = 'compile'`);
    await desk.advance();

    expect(await states()).toEqual({ child: "in-progress" });
  });

  test("as failed when none of its own came to a good end", async () => {
    const { desk, id } = await started();

    await endJobs(db, id, "failure");
    await desk.advance();

    expect(await states()).toEqual({ child: "failed" });
  });

  test("and the next begins in the same breath", async () => {
    const { desk, id } = await started();
    await storeArtifact(db, { tag: "next" });
    await desk.submit({ artifact: "next" });

    await endJobs(db, id);
    await desk.advance();

    expect(await states()).toEqual({ child: "completed", next: "in-progress" });
  });

  test("after doubts were measured again, once, with one report", async () => {
    const doubt: z.infer<typeof Doubt> = {
      case: {
        section: "compile",
        benchmark: "gamma",
        profile: "check",
        scenario: "full",
        backend: "js",
        target: "linux-x64",
      },
      metric: "wall-time",
      direction: "regressed",
    };
    const reports: string[] = [];
    const { desk, id } = await started({
      doubtsOf: async () => [doubt, { ...doubt, case: { ...doubt.case, scenario: "incremental" } }],
      makeReport: async (_, request) => {
        reports.push(request);
      },
    });
    await endJobs(db, id);
    await desk.advance();
    expect(await states()).toEqual({ child: "in-progress" });
    expect(await jobs(sql`purpose = 'confirm'`)).toMatchObject([{ set: 1, state: "queued" }]);
    expect(reports).toEqual([]);

    await endJobs(db, id);
    await Promise.all([desk.advance(), desk.advance()]);

    expect(await states()).toEqual({ child: "completed" });
    expect(reports).toEqual([id]);
  });

  test("even when its report cannot be made, after a few tries, and says so in the log", async () => {
    let tries = 0;
    const { desk, id } = await started({
      doubtsOf: async () => [],
      makeReport: async () => {
        tries++;
        throw new Error("no report today");
      },
    });
    await endJobs(db, id);

    for (let i = 0; i < 3; i++) await desk.advance();
    expect(await states()).toEqual({ child: "in-progress" });
    await desk.advance();

    expect(tries).toBe(3);
    expect(await states()).toEqual({ child: "completed" });
    expect(desk.logged.join()).toContain("ended without its report");
  });

  test("for ever: the database refuses to open it again", async () => {
    const { desk, id } = await started();
    await endJobs(db, id);
    await desk.advance();

    const reopened = db.run(
      sql`update benchmark_request set state = 'in-progress', ended_at = null where id = ${id}`,
    );

    await expect(reopened).rejects.toThrow(/stays so/);
  });
});

test("a changed suite reaches the next request, not the one under way", async () => {
  await storeSuite(db);
  await storeArtifact(db, { tag: "a" });
  const desk = aDesk(db);
  const { id } = await desk.submit({ artifact: "a" });
  await desk.advance();
  const digests = () =>
    db.many(
      z.object({ digest: z.string() }),
      sql`select distinct suite_digest as digest from benchmark_job`,
    );
  const before = await digests();

  await storeSuite(db, aSuite({ description: "more" }));
  await desk.advance();
  expect(await digests()).toEqual(before);
  await endJobs(db, id);
  await desk.advance();
  await desk.submit({ artifact: "a" });
  await desk.advance();

  expect(await digests()).toHaveLength(2);
});
