import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { CollectorView } from "#api/collector.ts";
import type { Tx } from "#db/db.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { aSuite, emptyLab, labEpoch, storeArtifact, storeSuite } from "../perf.fixture.ts";
import { requestsPage } from "./request-page.store.ts";
import { aService, endJobs } from "./requests.fixture.ts";
import { readRequest, readStatus } from "./status.ts";

const db = openPostgres({ url: await freshDatabase() });
beforeEach(() => emptyLab(db));

function aCollector(change: Partial<CollectorView> = {}): CollectorView {
  return {
    name: "zen",
    target: "linux-x64",
    set: null,
    mayTakeOver: [],
    active: true,
    outOfDuty: null,
    state: "waiting",
    addedAt: labEpoch.toISOString(),
    lastHeartbeatAt: labEpoch.toISOString(),
    version: null,
    environment: null,
    fingerprint: null,
    job: null,
    meanJobSeconds: null,
    selfTest: null,
    ...change,
  };
}

/** Counts the sent statements, and executes them. */
function counted(tx: Tx) {
  const sent: string[] = [];
  const counting: Tx = {
    many: (row, statement) => {
      sent.push(statement.text);
      return tx.many(row, statement);
    },
    run: (statement) => {
      sent.push(statement.text);
      return tx.run(statement);
    },
    script: (text) => tx.script(text),
  };
  return { tx: counting, sent };
}

const oneTarget = aSuite({ targets: { "linux-x64": {} } });
const minutes = (n: number) => new Date(labEpoch.getTime() + n * 60_000);

describe("the queue", () => {
  test("estimates start and end of each request from the durations of earlier ones", async () => {
    await storeSuite(db, oneTarget);
    const service = aService(db);
    for (const tag of ["a", "b", "c"]) await storeArtifact(db, { tag });
    const { id } = await service.submit({ artifact: "a" });
    await service.advance();
    await endJobs(db, id, "success", minutes(10));
    await service.advance();
    await service.submit({ artifact: "b" });
    await service.submit({ artifact: "c" });
    await service.advance();

    const { queue } = await readStatus(db, [aCollector()], labEpoch);

    // Five jobs of ten minutes, one after the other on the only machine.
    expect(queue.map(({ request, estimate }) => [request.artifact, estimate.endsAt])).toEqual([
      ["b", minutes(50).toISOString()],
      ["c", minutes(100).toISOString()],
    ]);
    expect(queue[1]?.estimate.startsAt).toBe(minutes(50).toISOString());
  });

  test("gives no estimate for benchmarks that were never measured", async () => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });
    await aService(db).submit({ artifact: "a" });

    const { queue } = await readStatus(db, [aCollector()], labEpoch);

    expect(queue[0]).toMatchObject({ place: 1, estimate: { endsAt: null } });
  });

  test("gives the place of a request, and the reason", async () => {
    await storeSuite(db);
    const service = aService(db);
    for (const tag of ["a", "b"]) await storeArtifact(db, { tag });
    await service.submit({ artifact: "a" });
    const { id } = await service.submit({ artifact: "b" });
    await service.advance();

    const found = await readRequest(db, id, [], labEpoch);

    expect(found).toMatchObject({ place: 2, hasReport: false, jobList: [], errorList: [] });
    expect(found?.placeBecause).toContain("main line");
  });
});

describe("alarms", () => {
  test("name the target and set without a collector, and what to do", async () => {
    await storeSuite(db, oneTarget);
    const service = aService(db);
    await storeArtifact(db, { tag: "a" });
    await service.submit({ artifact: "a" });
    await service.advance();

    const { alarms } = await readStatus(db, [aCollector({ set: 0 })], labEpoch);

    expect(alarms).toHaveLength(1);
    expect(alarms[0]).toContain("linux-x64, set 1");
    expect(alarms[0]).toContain("grange collector add");
  });

  test("name collectors that were never started while jobs wait for them", async () => {
    await storeSuite(db, oneTarget);
    const service = aService(db);
    await storeArtifact(db, { tag: "a" });
    const unseen = aCollector({ state: "never-seen", lastHeartbeatAt: null });
    expect((await readStatus(db, [unseen], minutes(16))).alarms).toEqual([]);
    await service.submit({ artifact: "a" });
    await service.advance();

    const { alarms } = await readStatus(db, [unseen], minutes(16));

    expect(alarms[0]).toContain("Collector zen has never registered");
  });

  test("name requests whose artifacts do not arrive", async () => {
    await storeSuite(db, oneTarget);
    const { id } = await aService(db).submit({ artifact: "mine", waitForArtifacts: true });

    expect((await readStatus(db, [], minutes(23 * 60))).alarms).toEqual([]);
    expect((await readStatus(db, [], minutes(25 * 60))).alarms).toEqual([
      `Request ${id.slice(0, 8)} of demo waits for mine for 25 h 00 min: send its tarballs, or end it with \`grange bench cancel ${id.slice(0, 8)}\`.`,
    ]);
  });

  test("are raised when there is no progress", async () => {
    await storeSuite(db, oneTarget);
    const service = aService(db);
    await storeArtifact(db, { tag: "a" });
    await service.submit({ artifact: "a" });
    await service.advance();

    expect((await readStatus(db, [aCollector()], minutes(14))).alarms).toEqual([]);
    const { alarms } = await readStatus(db, [aCollector()], minutes(16));

    expect(alarms.join()).toMatch(/not moved for 16/);
  });
});

describe("with thousands of ended requests", () => {
  const many = 5_000;

  async function aLongHistory() {
    await storeSuite(db, oneTarget);
    await db.run(sql`
      insert into benchmark_artifact (suite, tag, kind, dated_at, components, known_since)
      select 'demo', 'n-' || n, 'master', ${labEpoch}::timestamptz + n * interval '1 hour',
        '{"js": {"kind": "npm", "package": "js", "version": "1.0.0"}}', ${labEpoch}
      from generate_series(1, ${many}::int) as n
    `);
    await db.run(sql`
      insert into benchmark_request (id, suite, artifact_id, kind, state, paired, requested_by, because,
        created_at, started_at, ended_at)
      select gen_random_uuid(), 'demo', id, 'master', 'completed', false, 'grange', '', dated_at, dated_at,
        dated_at + interval '50 minutes'
      from benchmark_artifact
    `);
    await db.run(sql`
      insert into benchmark_job (id, request_id, artifact_id, suite_digest, purpose, section, target, backend, profile,
        benchmark_set, optional, state, max_attempts, not_before, created_at, started_at, ended_at)
      select gen_random_uuid(), request.id, artifact_id, suite.digest, 'own', 'compile', 'linux-x64', 'js', profile,
        set, false, 'success', 3, request.created_at, request.created_at, request.created_at,
        request.created_at + interval '10 minutes'
      from benchmark_request as request, benchmark_suite as suite,
        unnest(array['check', 'emit']) as profile, generate_series(0, 1) as set
    `);
    await db.run(sql`
      insert into benchmark_request_job (request_id, job_id) select request_id, id from benchmark_job
    `);
    const service = aService(db);
    for (let n = 1; n <= 40; n++) {
      await storeArtifact(db, { tag: `new-${n}` });
      await service.submit({ artifact: `new-${n}` });
    }
    await service.advance();
    await db.script("analyze");
  }

  test("the status reads few rows in a fixed number of statements", async () => {
    await aLongHistory();
    const { tx, sent } = counted(db);

    const status = await readStatus(tx, [aCollector()], labEpoch);

    expect(status.queue).toHaveLength(40);
    expect(status.recent).toHaveLength(20);
    expect(sent.length).toBeLessThanOrEqual(9);

    const page = counted(db);
    expect(
      await requestsPage(page.tx, {
        suite: "demo",
        state: undefined,
        before: undefined,
        limit: 100,
      }),
    ).toHaveLength(100);
    expect(page.sent).toHaveLength(1);
  });

  test("the next page of a list continues at its end, and each request is listed once", async () => {
    await storeSuite(db, oneTarget);
    const service = aService(db);
    for (let n = 1; n <= 7; n++) {
      await storeArtifact(db, { tag: `t-${n}` });
      await service.submit({ artifact: `t-${n}` });
    }
    const seen: string[] = [];
    let before: (typeof first)[number]["id"] | undefined;
    const first = await requestsPage(db, {
      suite: undefined,
      state: undefined,
      before: undefined,
      limit: 3,
    });
    const Id = z.uuid().brand<"BenchmarkRequestId">();
    for (;;) {
      const page = await requestsPage(db, {
        suite: undefined,
        state: undefined,
        before: before === undefined ? undefined : Id.parse(before),
        limit: 3,
      });
      if (page.length === 0) break;
      seen.push(...page.map(({ id }) => id));
      before = page.at(-1)?.id;
    }

    expect(seen).toHaveLength(7);
    expect(new Set(seen).size).toBe(7);
  });
});
