import { fileURLToPath } from "node:url";
import { z } from "zod";
import { caseOfKey, type TestCase } from "#core/test-case.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { collectorViews } from "#perf/collectors/collector-views.ts";
import { comparisonCache } from "#perf/history/comparison-cache.ts";
import { examineArtifact } from "#perf/history/examine-artifact.ts";
import { readComparison, resolveComparison } from "#perf/history/read-comparison.ts";
import { readGrid } from "#perf/history/read-grid.ts";
import { readSeries } from "#perf/history/read-series.ts";
import { labTimes } from "#perf/lab-times.ts";
import { readStatus } from "#perf/requests/status.ts";
import { allSuites, countArtifacts, keepSuite } from "#perf/suites.store.ts";
import { Suite } from "#suites/suite.ts";
import { suiteDigest } from "#suites/suite-digest.ts";
import { percentilesOf, withBenchDatabase } from "./bench-database.ts";

interface HistoryLoad {
  readonly cases: number;
  readonly artifacts: number;
  readonly iterations: number;
}

/** rustc-perf's: 685 cases in a default run, tens of thousands of commits of which some thousand a year are measured. */
export const asRustcPerf: HistoryLoad = { cases: 700, artifacts: 3_000, iterations: 0 };

const metrics = {
  instructions: ["deterministic", "instructions"],
  "wall-time": ["noisy", "seconds"],
  "user-time": ["noisy", "seconds"],
  "max-rss": ["noisy", "bytes"],
  "emitted-bytes": ["exact", "bytes"],
  types: ["deterministic", "count"],
  symbols: ["deterministic", "count"],
  "check-time": ["noisy", "seconds"],
} as const;

interface HistoryFigures {
  readonly results: number;
  readonly loadSeconds: number;
  /** The size of the tables of results and their indexes, for each thousand artifacts. */
  readonly bytesPerThousand: number;
  readonly bytesOf: Readonly<Record<string, number>>;
  /** Milliseconds, the median of several. */
  readonly comparisonMs: number;
  readonly comparisonAgainMs: number;
  readonly comparisonKnownMs: number;
  readonly seriesMs: number;
  readonly gridMs: number;
  readonly suitesMs: number;
  /** What GET /benchmarks/status answers, with 40 requests in the queue and 5,000 ended ones. */
  readonly statusMs: number;
  /** The time to examine all series of an artifact for steps. */
  readonly examineMs: number;
}

/** Loads a lab with years of data and measures the queries of pages. */
export function measureHistory(load: HistoryLoad): Promise<HistoryFigures> {
  return withBenchDatabase(async (db) => {
    const began = performance.now();
    await loadHistory(db, load);
    const loadSeconds = (performance.now() - began) / 1_000;

    const tagOf = (nth: number) => `nightly-${nth}`;
    const some = [0.99, 0.5, 0.7, 0.3, 0.9, 0.2, 0.95].map((share) =>
      Math.floor(load.artifacts * share),
    );
    const testCase = caseOfKey("compile benchmark-3 profile-1 scenario-1 js linux-x64");
    if (testCase === undefined) throw new Error("no such case");
    const suite = "lab";
    const comparison = await middle(some, async (nth) => {
      const asked = { suite, before: tagOf(nth - 1), after: tagOf(nth) };
      await db.transaction(async (tx) => readComparison(tx, await resolveComparison(tx, asked)));
    });
    const cache = comparisonCache(db);
    const asked = { suite, before: tagOf(load.artifacts - 1), after: tagOf(load.artifacts) };
    const { key } = await cache.get(asked);
    return {
      results: load.cases * load.artifacts,
      loadSeconds,
      ...(await sizeOf(db, load)),
      comparisonMs: comparison,
      comparisonAgainMs: await middle(some, () => cache.get(asked)),
      comparisonKnownMs: await middle(some, () => cache.get(asked, key)),
      seriesMs: await middle(some, (nth) =>
        readSeries(db, { suite, case: nthCase(testCase, nth), kind: "master", samples: false }),
      ),
      gridMs: await middle(some, () =>
        readGrid(db, { suite, kind: "master", filter: anyCase, limit: 60 }),
      ),
      suitesMs: await middle(some, () => Promise.all([allSuites(db), countArtifacts(db)])),
      statusMs: await middle(some, () =>
        db.transaction(async (tx) => {
          const now = new Date();
          return readStatus(tx, await collectorViews(tx, now, labTimes), now);
        }),
      ),
      examineMs: await middle(some.slice(0, 1), async () => {
        const [row] = await db.many(
          z.object({ id: z.number() }),
          sql`select id from benchmark_artifact where tag = ${tagOf(load.artifacts)}`,
        );
        if (row !== undefined) await examineArtifact(db, row.id, new Date());
      }),
    };
  });
}

const anyCase = {
  section: [],
  benchmark: [],
  profile: [],
  scenario: [],
  backend: [],
  target: [],
};

function nthCase(testCase: TestCase, nth: number): TestCase {
  return { ...testCase, benchmark: `benchmark-${nth % 30}` };
}

async function middle(
  of: readonly number[],
  work: (nth: number) => Promise<unknown>,
): Promise<number> {
  const took: number[] = [];
  for (const nth of of) {
    const began = performance.now();
    await work(nth);
    took.push(performance.now() - began);
  }
  return percentilesOf(took).p50;
}

/** Each commit's results are stored together, as collectors report them; the rows here have the same order. */
export async function loadHistory(db: Db, { cases, artifacts, iterations }: HistoryLoad) {
  const suite = Suite.parse({
    suite: "lab",
    artifacts: { from: "nowhere" },
    backends: { js: {} },
    targets: { "linux-x64": {} },
    metrics: Object.fromEntries(
      Object.entries(metrics).map(([name, [nature, unit]]) => [
        name,
        { take: { from: "wall-time" }, nature, unit },
      ]),
    ),
    headline: "instructions",
    compile: {
      command: ["{tool}"],
      benchmarks: Object.fromEntries(
        Array.from({ length: Math.ceil(cases / 10) }, (_, n) => [
          `benchmark-${n}`,
          { category: n % 3 === 0 ? "secondary" : "primary" },
        ]),
      ),
    },
  });
  await db.transaction((tx) => keepSuite(tx, suite, suiteDigest(suite), "bench", new Date()));
  await db.run(sql`
    insert into benchmark_environment (fingerprint, facts, first_seen_at)
    values (${"0".repeat(64)}, '{}', now())
  `);
  await db.run(sql`
    insert into benchmark_metric (suite, ordinal, name, nature, unit)
    select 'lab', place, name, nature, unit
    from unnest(${Object.keys(metrics)}::text[], ${Object.values(metrics).map(([nature]) => nature)}::text[],
                ${Object.values(metrics).map(([, unit]) => unit)}::text[])
      with ordinality as metric (name, nature, unit, place)
  `);
  await db.run(sql`
    insert into benchmark_case (suite, section, benchmark, profile, scenario, backend, target)
    select 'lab', 'compile', 'benchmark-' || n / 10, 'profile-' || n % 10 / 2, 'scenario-' || n % 2, 'js', 'linux-x64'
    from generate_series(0, ${cases}::int - 1) as n
  `);
  // On a real line more commits are known than measured: here, every second day has no measurement.
  await db.run(sql`
    insert into benchmark_artifact (suite, tag, kind, dated_at, components, known_since)
    select 'lab', case when n % 2 = 0 then 'nightly-' || n / 2 else 'unmeasured-' || n end, 'master',
           timestamptz '2010-01-01' + n * interval '12 hours', '{}', now()
    from generate_series(2, ${artifacts}::int * 2 + 1) as n
  `);
  for (let begin = 1; begin <= artifacts; begin += 100) {
    await db.run(sql`
      insert into benchmark_result
        (artifact_id, case_id, environment_id, least, iterations, collector_name, measured_at, scatter)
      select artifact.id, test.id, environment.id,
             -- Figures as they are: large whole numbers and times of six digits.
             array[round(1e9 * (1 + test.id % 97) * (1 + 0.0005 * random())), round((1 + test.id % 13 + random())::numeric, 6),
                   round((1 + test.id % 13 + random())::numeric, 6), round(2e8 * (1 + random())), 1e6 + test.id,
                   round(1e5 * (1 + test.id % 17) * (1 + 0.0001 * random())), 1e5 + test.id,
                   round((1 + test.id % 13 + random())::numeric, 6)]::float8[],
             3, 'collector-1', artifact.dated_at, array[0.0004, 0.02, 0.02, 0.1, 0, 0.0001, 0, 0.02]::float4[]
      from generate_series(${begin}::int, ${Math.min(begin + 99, artifacts)}::int) as n
      join benchmark_artifact as artifact on artifact.suite = 'lab' and artifact.tag = 'nightly-' || n
      cross join benchmark_case as test cross join benchmark_environment as environment
      order by artifact.dated_at, test.id
    `);
    if (iterations > 0) {
      await db.run(sql`
        insert into benchmark_collection
          (artifact_id, case_id, environment_id, iteration, sample, collector_name, job_id, epoch, measured_at)
        select artifact_id, case_id, environment_id, iteration, least, collector_name, gen_random_uuid(), 1, measured_at
        from benchmark_result
        join benchmark_artifact as artifact on artifact.id = artifact_id
        join generate_series(${begin}::int, ${Math.min(begin + 99, artifacts)}::int) as n on artifact.tag = 'nightly-' || n
        cross join generate_series(1, ${iterations}::int) as iteration
        order by artifact_id, case_id, iteration
      `);
    }
  }
  await loadRequests(db, artifacts, suiteDigest(suite));
  await db.script("vacuum analyze");
}

const ended = 5_000;
const queued = 40;

/**
 * Requests of twelve jobs each; the last forty are not measured yet, one of them has started. Jobs are kept for a
 * month.
 */
async function loadRequests(db: Db, artifacts: number, digest: string): Promise<void> {
  await db.run(sql`
    insert into collector (name, target, benchmark_set, active, added_at, added_by, last_heartbeat_at)
    select 'collector-' || set, 'linux-x64', set, true, now(), 'bench', now() from generate_series(0, 1) as set
  `);
  await db.run(sql`
    insert into benchmark_request
      (id, suite, artifact_id, kind, state, paired, requested_by, because, created_at, started_at, ended_at)
    select gen_random_uuid(), 'lab', artifact.id, 'master',
           case when n <= ${ended}::int then 'completed' when n = ${ended}::int + 1 then 'in-progress' else 'artifacts-ready' end,
           false, 'bench', '', at, case when n <= ${ended}::int + 1 then at end,
           case when n <= ${ended}::int then at + interval '40 minutes' end
    from generate_series(1, ${ended + queued}::int) as n
    join benchmark_artifact as artifact
      on artifact.tag = 'nightly-' || ${artifacts}::int - (${ended + queued}::int - n) % ${artifacts}::int,
    lateral (select now() - (${ended + queued}::int - n + 1) * interval '3 hours' as at) as time
  `);
  await db.run(sql`
    with job as (
      insert into benchmark_job
        (id, request_id, artifact_id, suite_digest, purpose, section, target, backend, profile, benchmark_set, optional,
         state, attempts, max_attempts, not_before, created_at, started_at, ended_at)
      select gen_random_uuid(), id, artifact_id, ${digest}, 'own', 'compile', 'linux-x64', 'js', 'profile-' || nth % 6,
             nth / 6, false, case when ended_at is null then 'queued' else 'success' end, 1, 3, created_at, created_at,
             case when ended_at is not null then created_at end, ended_at
      from benchmark_request, generate_series(0, 11) as nth
      where state = 'in-progress' or ended_at > now() - interval '30 days'
      returning id, request_id
    )
    insert into benchmark_request_job (request_id, job_id) select request_id, id from job
  `);
}

async function sizeOf(db: Db, { artifacts }: HistoryLoad) {
  const tables = await db.many(
    z.object({ name: z.string(), bytes: z.number() }),
    sql`
      select relname as name, pg_relation_size(oid) as bytes from pg_class
      where relname like 'benchmark_result%' or relname like 'benchmark_collection%'
      order by relname
    `,
  );
  const all = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    bytesPerThousand: Math.round((all / artifacts) * 1_000),
    bytesOf: Object.fromEntries(tables.map(({ name, bytes }) => [name, bytes])),
  };
}

/** `npx tsx bench/benchmark-history.ts [artifacts] [iterations]` */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [artifacts = asRustcPerf.artifacts, iterations = 0] = process.argv.slice(2).map(Number);
  const figures = await measureHistory({ ...asRustcPerf, artifacts, iterations });
  process.stdout.write(`${JSON.stringify(figures, undefined, 2)}\n`);
}
