import pino from "pino";
import { z } from "zod";
import { SubmitBenchmarkRequest } from "#api/benchmark-request.ts";
import type { KnownArtifact } from "#artifacts/known-artifacts.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { aSuite, labClock, storeArtifact, storeSuite } from "../perf.fixture.ts";
import { requestAdvancer } from "./advance.ts";
import { noRequestHooks, type RequestHooks } from "./request-hooks.ts";
import { type AskSource, sourceService } from "./source-service.ts";
import { submitRequest } from "./submit-request.ts";

export function aKnownArtifact(tag: string, change: Partial<KnownArtifact> = {}): KnownArtifact {
  return {
    tag,
    kind: "master",
    datedAt: new Date("2026-06-01T00:00:00Z"),
    parent: null,
    components: { js: { kind: "npm", package: "typescript", version: "5.9.3" } },
    commit: null,
    ...change,
  };
}

interface FakeSource {
  asked: number;
  artifacts: KnownArtifact[];
  fails: string | undefined;
  readonly ask: AskSource;
}

/** A source that lists these artifacts, also by longer names with the same prefix, and counts its calls. */
export function aSource(artifacts: readonly KnownArtifact[] = []): FakeSource {
  const source: FakeSource = {
    asked: 0,
    artifacts: [...artifacts],
    fails: undefined,
    async ask() {
      source.asked++;
      if (source.fails !== undefined) throw new Fault("unavailable", source.fails);
      const known = [...source.artifacts];
      return {
        artifacts: known.filter(({ kind }) => kind !== "try"),
        resolve(tag) {
          const found = known.find((each) => tag.startsWith(each.tag));
          if (found === undefined) throw new Fault("not_found", `the source has no ${tag}`);
          return found;
        },
      };
    },
  };
  return source;
}

/** Everything that requests need, on one database, without a collector. */
export function aService(
  db: Db,
  options: { hooks?: RequestHooks; source?: ReturnType<typeof aSource> } = {},
) {
  const { hooks = noRequestHooks, source = aSource() } = options;
  const clock = labClock();
  const sources = sourceService({ db, clock, ask: source.ask });
  const logged: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => logged.push(line) });
  const missing = new Set<string>();
  const services = {
    db,
    clock,
    sources,
    logger,
    hooks,
    missingBlobs: async (keys: readonly string[]) => keys.filter((key) => missing.has(key)),
  };
  const advancer = requestAdvancer(services);
  return {
    services,
    clock,
    source,
    missing,
    /** The logged warnings. */
    logged,
    advancer,
    submit: (
      request: Partial<z.input<typeof SubmitBenchmarkRequest>> & { artifact: string },
      by = "ada",
    ) =>
      submitRequest(
        services,
        SubmitBenchmarkRequest.parse({ suite: "demo", ...request }),
        by,
        async () => {},
      ),
    advance: () => advancer.advance("demo"),
  };
}

/** Creates a suite, and two artifacts; one is the other's parent. */
export async function aPair(db: Db, suite = aSuite()) {
  await storeSuite(db, suite);
  const parent = await storeArtifact(db, { tag: "parent" });
  const child = await storeArtifact(db, { tag: "child", parent });
  return { parent, child };
}

const JobRow = z.object({
  tag: z.string(),
  purpose: z.string(),
  state: z.string(),
  section: z.string(),
  profile: z.string(),
  set: z.number(),
  optional: z.boolean(),
});

export function jobsIn(db: Db, meant = sql`true`): Promise<z.infer<typeof JobRow>[]> {
  return db.many(
    JobRow,
    sql`
      select tag, purpose, state, section, profile, benchmark_set as set, optional
      from benchmark_job as job join benchmark_artifact as a on a.id = job.artifact_id
      where ${meant} order by purpose, tag, section, profile, benchmark_set, target
    `,
  );
}

const RequestRow = z.object({ tag: z.string(), state: z.string(), backends: z.array(z.string()) });

export function requestsIn(db: Db): Promise<z.infer<typeof RequestRow>[]> {
  return db.many(
    RequestRow,
    sql`
      select tag, state, backends
      from benchmark_request as r join benchmark_artifact as a on a.id = r.artifact_id
      order by tag, r.created_at
    `,
  );
}

/** Returns the states of requests, by their artifacts' tags. */
export async function statesIn(db: Db): Promise<Record<string, string>> {
  return Object.fromEntries((await requestsIn(db)).map(({ tag, state }) => [tag, state]));
}

/** Ends open jobs of a request (all, or selected ones) as collectors would, with this outcome. */
export async function endJobs(
  db: Db,
  request: string,
  state: "success" | "failure" = "success",
  at = new Date("2026-06-01T00:10:00Z"),
  meant = sql`true`,
): Promise<number> {
  return db.run(sql`
    update benchmark_job as job
    set state = ${state}, started_at = coalesce(started_at, created_at), ended_at = ${at},
        error = ${state === "failure" ? "it broke" : null}
    where state in ('queued', 'in-progress') and ${meant}
      and id in (select job_id from benchmark_request_job where request_id = ${request})
  `);
}

/** Stores a result of an artifact for each case that a job with these values would measure. */
export async function measureAll(
  db: Db,
  artifactId: number,
  backend = "js",
  but: { readonly iterations?: number; readonly without?: "runtime" } = {},
): Promise<void> {
  await db.run(sql`
    insert into benchmark_environment (fingerprint, facts, first_seen_at) values ('f', '{}', now())
    on conflict do nothing
  `);
  await db.run(sql`
    with wanted as (
      select 'demo' as suite, 'compile' as section, benchmark, profile, scenario, ${backend}::text as backend, target
      from unnest(array['alpha', 'beta', 'gamma']) as benchmark, unnest(array['check', 'emit']) as profile,
        unnest(array['full', 'incremental']) as scenario, unnest(array['linux-x64', 'linux-arm64']) as target
      union all
      select 'demo', 'runtime', 'sort', '', '', ${backend}::text, target
      from unnest(array['linux-x64', 'linux-arm64']) as target
    ), added as (
      insert into benchmark_case (suite, section, benchmark, profile, scenario, backend, target)
      select * from wanted
      on conflict (suite, section, benchmark, profile, scenario, backend, target)
        do update set suite = excluded.suite
      returning id, section
    )
    insert into benchmark_result
      (artifact_id, case_id, environment_id, least, iterations, collector_name, measured_at)
    select ${artifactId}, added.id, environment.id, '{1}', ${but.iterations ?? 1}, 'c', now()
    from added, benchmark_environment as environment where environment.fingerprint = 'f' and added.section <> ${but.without ?? ""}
    on conflict do nothing
  `);
}
