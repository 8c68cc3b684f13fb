import { z } from "zod";
import { GranaryBuildReport, GranaryBuildSummary, SavingsOfDay } from "#api/granary.ts";
import { ResultKey } from "#commit-index/result-key.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { type Sql, sql } from "#db/sql.ts";
import { countedOnce, tooOften } from "./hourly-count.store.ts";

/** A report has up to half a megabyte and is kept for 90 days; more than one build per second is not realistic. */
const defaultMostAnHour = 3_600;

const Counted = z.object({ count: z.number() });

/**
 * Stores a granary's report about a build; repeating it changes nothing.
 *
 * Throws `resource_exhausted` when `principal` has sent too many within the hour.
 */
export async function addBuild(
  tx: Tx,
  report: GranaryBuildReport,
  principal: string,
  most: number = defaultMostAnHour,
): Promise<void> {
  const { counts, bytes } = report;
  const bound = { what: "reported builds", who: principal, most };
  const counted = await tx.many(
    Counted,
    sql`
    with counted as (${countedOnce(bound)}),
    added as (
    insert into granary_build (id, project, repository, commit, branch, environment, machine, principal,
      started_at, ended_at, local, prefetched, fetched, missed, unreachable, prefetched_bytes, wasted_bytes,
      saved_ms, waited_ms, lead_ms, report)
    select ${report.id}, ${report.project}, ${report.repository}, ${report.commit ?? ""}, ${report.branch},
      ${report.environment}, ${report.machine}, ${principal}, ${report.startedAt}, ${report.endedAt},
      ${counts.local}, ${counts.prefetched}, ${counts.fetched}, ${counts.missed}, ${counts.unreachable},
      ${bytes.transferred}, ${bytes.wasted}, ${report.savedMs}, ${report.waitedMs},
      ${report.lead?.medianMs ?? null},
      ${JSON.stringify(report)}::jsonb
    from counted
    on conflict (id) do nothing
    )
    select count from counted
  `,
  );
  if (counted.length === 0) throw tooOften(bound);
}

const Listed = z.object({ report: GranaryBuildSummary }).transform(({ report }) => report);

interface BuildListing {
  readonly project: string;
  readonly repository: string | undefined;
  readonly commit: string | undefined;
  /** The id of the last build that the reader has. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Returns builds, the most recently ended first. */
export function listBuilds(tx: Tx, listing: BuildListing): Promise<GranaryBuildSummary[]> {
  const { project, repository, commit, after, limit } = listing;
  const all: Sql = { text: "true", values: [] };
  return tx.many(
    Listed,
    sql`
      select report - 'asked' - 'truncated' as report
      from granary_build as build
      where project = ${project}
        and ${repository === undefined ? all : sql`repository = ${repository}`}
        and ${commit === undefined ? all : sql`commit = ${commit}`}
        and ${
          after === undefined
            ? all
            : sql`exists (
                select from granary_build as last
                where last.id = ${after}
                  and (build.ended_at < last.ended_at
                    or (build.ended_at = last.ended_at and build.id > last.id))
              )`
        }
      order by ended_at desc, id
      limit ${limit}
    `,
  );
}

const Whole = z.object({ report: GranaryBuildReport }).transform(({ report }) => report);

export async function buildWithId(tx: Tx, id: string): Promise<GranaryBuildReport | undefined> {
  const [report] = await tx.many(Whole, sql`select report from granary_build where id = ${id}`);
  return report;
}

/** Returns the project of a build; undefined when there is no such build. */
export async function projectOfBuild(tx: Tx, id: string): Promise<string | undefined> {
  const [row] = await tx.many(
    z.object({ project: z.string() }),
    sql`select project from granary_build where id = ${id}`,
  );
  return row?.project;
}

/** Returns the savings of granaries by day, the latest first. Days without builds are left out. */
export function savingsSince(tx: Tx, project: string, since: Date): Promise<SavingsOfDay[]> {
  return tx.many(
    SavingsOfDay,
    sql`
      select to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD') as day,
        count(*)::integer as builds,
        sum(local + prefetched + fetched + missed + unreachable)::bigint as asked,
        sum(local + prefetched + fetched)::bigint as hits,
        sum(prefetched)::bigint as prefetched,
        sum(saved_ms)::bigint as "savedMs",
        sum(waited_ms)::bigint as "waitedMs",
        sum(prefetched_bytes)::bigint as "transferredBytes",
        sum(wasted_bytes)::bigint as "wastedBytes"
      from granary_build
      where project = ${project} and ended_at >= ${since}
      group by day
      order by day desc
    `,
  );
}

const GranaryUse = z.object({
  project: z.string(),
  at: z.date(),
  hits: z.number(),
  misses: z.number(),
});

/**
 * Returns how many results that builds requested their granaries had or got, by project and period. Periods begin at
 * multiples of their length in UTC.
 *
 * @param places only projects at these places
 */
export function granaryUseSince(
  tx: Tx,
  wanted: {
    readonly since: Date;
    readonly periodSeconds: number;
    readonly places: PlacePatterns;
  },
): Promise<z.infer<typeof GranaryUse>[]> {
  const { since, periodSeconds, places } = wanted;
  return tx.many(
    GranaryUse,
    sql`
      select project, date_bin(make_interval(secs => ${periodSeconds}), ended_at, 'epoch') as at,
        sum(local + prefetched + fetched)::bigint as hits, sum(missed + unreachable)::bigint as misses
      from granary_build
      where ended_at >= ${since} and ${inPlaces(places, sql`project`)}
      group by 1, 2
    `,
  );
}

const Given = z
  .object({
    namespace: z.string(),
    key: z.string(),
    id: z.uuid(),
    machine: z.string(),
    commit: z.string(),
    ended_at: z.date(),
    made: z.number(),
  })
  .transform(({ ended_at, ...row }) => ({ ...row, at: ended_at.toISOString() }));
export type GivenResult = z.infer<typeof Given>;

/** Reports hold 2,000 results each; reading this many takes at most a second. */
const mostSearched = 200;

/**
 * Returns those of the project's last builds that received one of these results, the latest first; with the number of
 * results that each made afterwards.
 */
export function buildsGiven(
  tx: Tx,
  project: string,
  keys: readonly { readonly namespace: string; readonly key: string }[],
): Promise<GivenResult[]> {
  if (keys.length === 0) return Promise.resolve([]);
  return tx.many(
    Given,
    sql`
      with last_build as (
        select id, machine, commit, ended_at, report -> 'asked' as asked
        from granary_build
        where project = ${project}
        order by ended_at desc, id
        limit ${mostSearched}
      ),
      given as (
        select namespace, key, id, machine, commit, ended_at, asked, (one ->> 'atMs')::bigint as at_ms
        from last_build
          cross join jsonb_array_elements(asked) as one
          join unnest(
            ${keys.map(({ namespace }) => namespace)}::text[], ${keys.map(({ key }) => key)}::text[]
          ) as doubted (namespace, key)
            on one ->> 'namespace' = namespace and one ->> 'key' = key
        where one ->> 'source' in ('local', 'prefetched', 'fetched')
      )
      select namespace, key, id, machine, commit, ended_at,
        (
          select count(*)::integer
          from jsonb_array_elements(asked) as other
          where other ->> 'source' = 'missed' and (other ->> 'atMs')::bigint > at_ms
        ) as made
      from given
      order by ended_at desc, id
      limit 5000
    `,
  );
}

const Made = ResultKey.extend({ build: z.uuid() });

/**
 * Returns results that builds made after they had got a result that was found wrong at `foundAt`, of the last builds of
 * the project; each once, the first `most`.
 */
export function madeAfterGiven(
  tx: Tx,
  project: string,
  doubted: ResultKey,
  foundAt: Date,
  most: number,
): Promise<z.infer<typeof Made>[]> {
  return tx.many(
    Made,
    sql`
      with last_build as (
        select id, report -> 'asked' as asked
        from granary_build
        where project = ${project} and started_at <= ${foundAt}
        order by ended_at desc, id
        limit ${mostSearched}
      ),
      given as (
        select id, asked, min((one ->> 'atMs')::bigint) as at_ms
        from last_build cross join jsonb_array_elements(asked) as one
        where one ->> 'namespace' = ${doubted.namespace} and one ->> 'key' = ${doubted.key}
          and one ->> 'source' in ('local', 'prefetched', 'fetched')
        group by id, asked
      )
      select distinct on (namespace, key) namespace, key, id as build
      from given
        cross join jsonb_array_elements(asked) as other
        cross join lateral (select other ->> 'namespace' as namespace, other ->> 'key' as key) as made
      where other ->> 'source' = 'missed' and (other ->> 'atMs')::bigint > at_ms
        and (namespace, key) <> (${doubted.namespace}, ${doubted.key})
      order by namespace, key, id
      limit ${most}
    `,
  );
}

/** Deletes some builds that ended before a time; returns how many. */
export function deleteBuilds(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`
    delete from granary_build
    where id in (
      select id from granary_build where ended_at < ${before} limit 500 for update skip locked
    )
  `);
}
