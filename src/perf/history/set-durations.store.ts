import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** The number of latest jobs of a benchmark that are used for the median. */
const lastJobs = 5;
/** Older ones were measured with another suite, or on another machine. */
const lastArtifacts = 40;

/**
 * Returns the seconds that a benchmark of the compile section keeps a collector of a target busy, with all its cases.
 *
 * Tests are reported one after the other, so the time between two reports of a job is the duration of the later test,
 * including warm-up, preparation and simulators. A collector's absence makes one of five jobs long, and the median
 * ignores it. The duration of the first test of a job is unknown this way: it is taken from jobs in which it was not
 * the first, else from the mean of the benchmark's other cases, else from the least time between a job's start and its
 * first report, which includes fetching the artifact.
 */
export async function secondsOfBenchmarks(
  tx: Tx,
  suite: string,
  target: string,
): Promise<Map<string, number>> {
  const rows = await tx.many(
    z.object({ benchmark: z.string(), seconds: z.number() }),
    sql`
      with newest as (
        select id from benchmark_artifact as artifact
        where suite = ${suite} and exists (
          select from benchmark_result as result where result.artifact_id = artifact.id)
        order by dated_at desc, tag desc
        limit ${lastArtifacts}
      ), report as (
        select collection.job_id, collection.case_id, max(collection.measured_at) as at
        from benchmark_collection as collection
        join benchmark_case as test on test.id = collection.case_id
        where collection.artifact_id in (select id from newest)
          and test.suite = ${suite} and test.target = ${target} and test.section = 'compile'
        group by 1, 2
      ), took as (
        select case_id, job_id, at,
               extract(epoch from at - lag(at) over (partition by job_id order by at))::float8 as seconds
        from report
      ), first as (
        select took.case_id, min(extract(epoch from took.at - job.started_at))::float8 as seconds
        from took join benchmark_job as job on job.id = took.job_id
        where took.seconds is null and job.started_at < took.at
        group by took.case_id
      ), late as (
        select case_id, seconds, row_number() over (partition by case_id order by at desc) as nth
        from took where seconds is not null
      ), usual as (
        select case_id, percentile_cont(0.5) within group (order by seconds) as seconds
        from late where nth <= ${lastJobs} group by case_id
      )
      select test.benchmark, coalesce(avg(usual.seconds), avg(first.seconds)) * count(*) as seconds
      from benchmark_case as test
      left join usual on usual.case_id = test.id
      left join first on first.case_id = test.id
      where test.id in (select case_id from report)
      group by test.benchmark
      having count(usual.seconds) + count(first.seconds) > 0
    `,
  );
  return new Map(rows.map(({ benchmark, seconds }) => [benchmark, seconds]));
}
