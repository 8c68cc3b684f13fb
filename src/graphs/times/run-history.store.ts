import type { Db, Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { moveMark, type Span, spanToCount } from "./rollup-mark.store.ts";
import { histogramBoundsSeconds } from "./time-histogram.store.ts";

const runsPerTurn = 5_000;

/**
 * Counts the runs that ended since the last time into the history of jobs and the histograms.
 *
 * Returns false when nothing is left, or another server does it.
 */
export function rollUpRuns(db: Db, now: Date): Promise<boolean> {
  return db.transaction(async (tx) => {
    const span = await spanToCount(
      tx,
      "runs",
      now,
      runsPerTurn,
      (after, until) => sql`
        select finished_at as at from run
        where state = 'finished' and finished_at > ${after}::timestamptz and finished_at <= ${until}
      `,
    );
    if (span === undefined) return false;
    await countIntoHistory(tx, span);
    await countIntoHistograms(tx, span);
    await moveMark(tx, "runs", span);
    return true;
  });
}

/** Cache hits take no time and contain no information about the duration of the job. */
async function countIntoHistory(tx: Tx, { after, until }: Span): Promise<void> {
  await tx.run(sql`
    with ended as (
      select graph.repository, run.job, run.outcome, run.finished_at,
             case when run.outcome = 'succeeded'
               then (extract(epoch from run.finished_at - run.started_at) * 1000)::bigint end as ms
      from run join graph on graph.id = run.graph_id
      where run.state = 'finished' and not run.cached and run.started_at < run.finished_at
        and run.finished_at > ${after}::timestamptz and run.finished_at <= ${until}::timestamptz
    ),
    news as (
      select repository, job,
             count(ms) as samples,
             count(*) filter (where outcome not in ('succeeded', 'cancelled')) as failures,
             coalesce((array_agg(ms order by finished_at desc) filter (where ms is not null))[1:20], '{}')
               as durations_ms
      from ended
      group by repository, job
    ),
    known as (
      select news.repository, news.job,
             news.samples + coalesce(job_history.samples, 0) as samples,
             news.failures + coalesce(job_history.failures, 0) as failures,
             (news.durations_ms || coalesce(job_history.durations_ms, '{}'))[1:20] as durations_ms
      from news left join job_history using (repository, job)
    )
    insert into job_history (repository, job, samples, failures, durations_ms, median_ms, p90_ms)
    select repository, job, samples, failures, durations_ms,
           (select percentile_cont(0.5) within group (order by ms) from unnest(durations_ms) as ms)::bigint,
           (select percentile_cont(0.9) within group (order by ms) from unnest(durations_ms) as ms)::bigint
    from known
    on conflict (repository, job) do update
    set samples = excluded.samples, failures = excluded.failures, durations_ms = excluded.durations_ms,
        median_ms = excluded.median_ms, p90_ms = excluded.p90_ms
  `);
}

/**
 * Counts each run into the first bucket that it fits. Only runs that wait for workers count: not those that wait for a
 * person or a time, and not cache hits.
 */
async function countIntoHistograms(tx: Tx, { after, until }: Span): Promise<void> {
  await tx.run(sql`
    with ended as (
      -- What was cancelled or expired before its start has waited as well.
      select extract(epoch from coalesce(started_at, finished_at) - ready_at) as wait, extract(epoch from finished_at - started_at) as run
      from run
      where state = 'finished' and served_by in ('execution', 'items')
        and (started_at is not null or outcome = 'cancelled')
        and finished_at > ${after}::timestamptz and finished_at <= ${until}::timestamptz
    ),
    measured as (
      select measure, greatest(0, seconds)::double precision as seconds
      from ended cross join lateral (values ('wait', wait), ('run', run)) as m (measure, seconds)
      where seconds is not null
    )
    insert into time_histogram (measure, upto_seconds, runs, seconds)
    select measure, bound, count(*), sum(seconds)
    from measured
    cross join lateral (
      select min(bound) as bound from unnest(${[...histogramBoundsSeconds, "Infinity"]}::double precision[]) as bound
      where bound >= seconds
    ) as bucket
    group by measure, bound
    on conflict (measure, upto_seconds) do update
    set runs = time_histogram.runs + excluded.runs, seconds = time_histogram.seconds + excluded.seconds
  `);
}
