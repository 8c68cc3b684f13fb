import { z } from "zod";
import type { JobTrend, JobTrends, TrendsBy } from "#api/job-trends.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { type Sql, sql } from "#db/sql.ts";

/** In weeks with more graphs, only the newest ones are read: a page must not read millions of runs. */
const mostGraphs = 1_000;
const mostRuns = 200_000;
const mostJobs = 50;

interface Wanted {
  readonly repository: string;
  readonly by: TrendsBy;
  /** The number of weeks or graphs. */
  readonly last: number;
  /** Null: all branches. */
  readonly branch: string | null;
  /** A part of the names of jobs, in any case; empty for all. */
  readonly text: string;
  readonly now: Date;
  /** Only graphs at these places. */
  readonly places: PlacePatterns;
}

const Bucket = z.object({ at: z.date(), id: z.string(), commit: z.string(), graphs: z.number() });
const Point = z.object({
  job: z.string(),
  /** The bucket's beginning; null: the sum over all of them. */
  at: z.date().nullable(),
  graph: z.string().nullable(),
  runs: z.number(),
  failures: z.number(),
  medianMs: z.number().nullable(),
  jobs: z.number(),
  read: z.number(),
});

/** Returns durations and failures of the jobs of a repository, by week or by graph; call it in a transaction. */
export async function jobTrends(tx: Tx, wanted: Wanted): Promise<JobTrends> {
  const { repository, by, text } = wanted;
  const graphs = graphsOf(wanted);
  const buckets = await tx.many(
    Bucket,
    sql`
      with shown as (${graphs})
      select ${by === "week" ? sql`week` : sql`created_at`} as at, min(id::text) as id, min(commit) as commit,
        count(*)::integer as graphs
      from shown group by ${by === "week" ? sql`week` : sql`created_at, id`} order by 1, min(number)
    `,
  );
  const points = await tx.many(
    Point,
    sql`
      with shown as materialized (${graphs}), ended as materialized (
        select run.job, shown.week, shown.id, run.outcome,
          case when run.outcome = 'succeeded' and run.started_at is not null
            then extract(epoch from run.finished_at - run.started_at) * 1000 end as ms
        from shown join run on run.graph_id = shown.id
        where run.state = 'finished' and not run.cached
          and run.outcome in ('succeeded', 'failed', 'timed_out', 'out_of_memory')
          and strpos(lower(run.job), lower(${text})) > 0
        limit ${mostRuns}
      ), ranked as materialized (
        select job, row_number() over (
          order by count(*) filter (where outcome <> 'succeeded') desc, sum(ms) desc nulls last, job) as rank
        from ended group by job
      )
      select ended.job, ${by === "week" ? sql`ended.week` : sql`null::timestamptz`} as at,
        ${by === "week" ? sql`null::text` : sql`ended.id::text`} as graph,
        count(*)::integer as runs,
        (count(*) filter (where ended.outcome <> 'succeeded'))::integer as failures,
        round(percentile_cont(0.5) within group (order by ended.ms))::bigint as "medianMs",
        (select count(*)::integer from ranked) as jobs,
        (select count(*)::integer from ended) as read
      from ended join ranked using (job)
      where ranked.rank <= ${mostJobs}
      group by grouping sets ((ended.job, ranked.rank, ${by === "week" ? sql`ended.week` : sql`ended.id`}),
                              (ended.job, ranked.rank))
      order by ranked.rank
    `,
  );
  const [first] = points;
  const graphsRead = buckets.reduce((sum, each) => sum + each.graphs, 0);
  return {
    repository,
    by,
    buckets: buckets.map(({ at, id, commit }) => ({
      at: at.toISOString(),
      graph: by === "graph" ? { id, commit } : null,
    })),
    jobs: foldPoints(points, (point) =>
      buckets.findIndex(({ at, id }) =>
        by === "week" ? at.getTime() === point.at?.getTime() : id === point.graph,
      ),
    ),
    isCut:
      (by === "week" && graphsRead === mostGraphs) ||
      (first !== undefined && (first.jobs > mostJobs || first.read === mostRuns)),
  };
}

/** The graphs that count, with the Monday on which their week begins. */
function graphsOf({ repository, by, last, branch, now, places }: Wanted): Sql {
  const since = new Date(now.getTime() - last * 7 * 24 * 60 * 60_000);
  const period = by === "week" ? sql`date_trunc('week', created_at, 'UTC') > ${since}` : sql`true`;
  return sql`
    select id, number, commit, created_at, date_trunc('week', created_at, 'UTC') as week from graph
    where repository = ${repository} and ${inPlaces(places, sql`repository`, sql`branch`)}
      and (${branch}::text is null or branch = ${branch}::text) and ${period}
    order by number desc limit ${by === "week" ? mostGraphs : last}
  `;
}

/** Returns the trends in the order of their first points. */
function foldPoints(
  points: readonly z.infer<typeof Point>[],
  bucketOf: (point: z.infer<typeof Point>) => number,
): JobTrend[] {
  const trends = new Map<string, JobTrend>();
  for (const point of points) {
    const { job: name, runs, failures, medianMs } = point;
    const known = trends.get(name) ?? { name, runs: 0, failures: 0, medianMs: null, points: [] };
    const isSum = point.at === null && point.graph === null;
    trends.set(
      name,
      isSum
        ? { ...known, runs, failures, medianMs }
        : {
            ...known,
            points: [...known.points, { bucket: bucketOf(point), runs, failures, medianMs }],
          },
    );
  }
  return [...trends.values()].map((trend) => ({
    ...trend,
    points: trend.points.toSorted((a, b) => a.bucket - b.bucket),
  }));
}
