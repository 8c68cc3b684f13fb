import { z } from "zod";
import { JobPurpose, JobState } from "#api/benchmark-request.ts";
import { Section } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { NewJob } from "./plan-request.ts";
import type { BenchmarkRequestId } from "./request.store.ts";

/**
 * Inserts jobs for a request, except those whose work is in progress, and makes the request wait for all of them.
 *
 * The suite is locked, so no other transaction inserts jobs of it. Returns how many are new.
 */
export async function insertJobs(
  tx: Tx,
  requestId: BenchmarkRequestId,
  jobs: readonly NewJob[],
  made: { readonly suiteDigest: string; readonly maxAttempts: number; readonly now: Date },
): Promise<number> {
  if (jobs.length === 0) return 0;
  const { suiteDigest, maxAttempts, now } = made;
  const rows = JSON.stringify(
    jobs.map((job) => ({
      ...job,
      against_id: job.againstId,
      artifact_id: job.artifactId,
      benchmark_set: job.set,
      doubts: job.doubts ?? null,
    })),
  );
  const [counted] = await tx.many(
    z.object({ inserted: z.number() }),
    sql`
      with wanted as (
        select * from jsonb_to_recordset(${rows}::jsonb) as w (
          id uuid, artifact_id int, against_id int, purpose text, runs int, section text, target text, backend text,
          profile text, benchmark_set int, benchmarks text[], doubts jsonb, optional boolean, done boolean)
      ), alike as (
        -- Equal work of the same definition, of no fewer runs: in hand, or done with nothing left to measure.
        select distinct on (wanted.id) wanted.id as wanted, job.id as job
        from wanted join benchmark_job as job
          on job.artifact_id = wanted.artifact_id and job.section = wanted.section
         and job.target = wanted.target and job.backend = wanted.backend and job.profile = wanted.profile
         and job.benchmark_set = wanted.benchmark_set and job.benchmarks = wanted.benchmarks
         and job.suite_digest = ${suiteDigest}
        where wanted.purpose in ('own', 'backfill') and job.purpose in ('own', 'backfill')
          and (wanted.done or coalesce(job.runs, 0) >= coalesce(wanted.runs, 0))
          and (job.state in ('queued', 'in-progress')
               or (job.state = 'success' and (wanted.done or wanted.purpose = 'backfill')))
        order by wanted.id, job.state = 'success', job.created_at desc
      ), paired as (
        select wanted.id as wanted, job.id as job
        from wanted join benchmark_job as job
          on job.request_id = ${requestId} and job.purpose = wanted.purpose
         and job.against_id = wanted.against_id and job.section = wanted.section
         and job.target = wanted.target and job.backend = wanted.backend and job.profile = wanted.profile
         and job.benchmark_set = wanted.benchmark_set and job.benchmarks = wanted.benchmarks
        where wanted.purpose = 'paired' and job.state in ('queued', 'in-progress', 'success')
      ), known as (
        select wanted, job from alike union all select wanted, job from paired
      ), inserted as (
        insert into benchmark_job
          (id, request_id, artifact_id, against_id, suite_digest, purpose, section, target, backend, profile,
           benchmark_set, benchmarks, runs, doubts, optional, state, max_attempts, not_before, created_at,
           started_at, ended_at)
        select id, ${requestId}::uuid, artifact_id, against_id, ${suiteDigest}, purpose, section, target, backend,
               profile, benchmark_set, benchmarks, runs, doubts, optional,
               case when done then 'success' else 'queued' end, ${maxAttempts}::int, ${now}::timestamptz, ${now}::timestamptz,
               case when done then ${now}::timestamptz end, case when done then ${now}::timestamptz end
        from wanted where id not in (select wanted from known)
        returning id
      ), linked as (
        insert into benchmark_request_job (request_id, job_id)
        select ${requestId}::uuid, job from known union select ${requestId}::uuid, id from inserted
        on conflict do nothing
      )
      select count(*) as inserted from inserted
    `,
  );
  return counted?.inserted ?? 0;
}

const Awaited = z.object({
  purpose: JobPurpose,
  state: JobState,
  optional: z.boolean(),
  artifactId: z.number(),
});

/** Returns the state of a request's jobs. */
export function jobsOfRequest(tx: Tx, id: BenchmarkRequestId): Promise<z.infer<typeof Awaited>[]> {
  return tx.many(
    Awaited,
    sql`
      select job.purpose, job.state, job.optional, job.artifact_id as "artifactId"
      from benchmark_request_job as waits join benchmark_job as job on job.id = waits.job_id
      where waits.request_id = ${id}
    `,
  );
}

/**
 * Ends the open jobs for which only this request waits; the others are assigned to another request that waits.
 *
 * A collector that runs one is informed with its next heartbeat.
 */
export async function cancelJobs(tx: Tx, id: BenchmarkRequestId, at: Date): Promise<number> {
  await tx.run(sql`
    update benchmark_job as job set request_id = other.request_id
    from (
      select distinct on (waits.job_id) waits.job_id, waits.request_id
      from benchmark_request_job as waits
      join benchmark_request as request on request.id = waits.request_id
      where waits.request_id <> ${id} and request.state = 'in-progress'
        and waits.job_id in (select job_id from benchmark_request_job where request_id = ${id})
      order by waits.job_id, request.created_at
    ) as other
    where job.id = other.job_id and job.request_id = ${id} and job.state in ('queued', 'in-progress')
  `);
  return tx.run(sql`
    update benchmark_job set state = 'cancelled', ended_at = ${at}, lease_until = null
    where request_id = ${id} and state in ('queued', 'in-progress')
  `);
}

/**
 * Ends the optional jobs of a request that no active collector serves and for which no other request waits. They would
 * never be claimed, and the request would wait forever.
 */
export async function endUntakenJobs(tx: Tx, id: BenchmarkRequestId, at: Date): Promise<number> {
  return tx.run(sql`
    update benchmark_job as job set state = 'cancelled', ended_at = ${at}, lease_until = null
    where job.id in (select job_id from benchmark_request_job where request_id = ${id})
      and job.state = 'queued' and job.optional
      and not exists (
        select from collector
        where active and target = job.target
          and (benchmark_set is null or benchmark_set = job.benchmark_set or job.benchmark_set = any(may_take_over)))
      and not exists (
        select from benchmark_request_job as waits join benchmark_request as request on request.id = waits.request_id
        where waits.job_id = job.id and waits.request_id <> ${id} and request.ended_at is null)
  `);
}

/** Ends queued jobs whose requests ended long ago, because their collector no longer exists. Returns their number. */
export async function endAbandonedJobs(tx: Tx, endedBefore: Date, at: Date): Promise<number> {
  return tx.run(sql`
    update benchmark_job as job set state = 'cancelled', ended_at = ${at}, lease_until = null
    where job.state = 'queued' and job.created_at < ${endedBefore}
      and not exists (
        select from benchmark_request_job as waits join benchmark_request as request on request.id = waits.request_id
        where waits.job_id = job.id and (request.ended_at is null or request.ended_at >= ${endedBefore}))
  `);
}

const Case = z.object({
  artifactId: z.number(),
  section: Section,
  benchmark: z.string(),
  profile: z.string(),
  scenario: z.string(),
  backend: z.string(),
  target: z.string(),
  iterations: z.number(),
});

/**
 * Returns the cases of these artifacts that have a result, of any machine; and the number of runs, on the machine with
 * the most.
 */
export function measuredCases(
  tx: Tx,
  artifactIds: readonly number[],
): Promise<z.infer<typeof Case>[]> {
  return tx.many(
    Case,
    sql`
      select result.artifact_id as "artifactId", test_case.section, test_case.benchmark, test_case.profile,
             test_case.scenario, test_case.backend, test_case.target, max(result.iterations) as iterations
      from benchmark_result as result join benchmark_case as test_case on test_case.id = result.case_id
      where result.artifact_id = any(${artifactIds}::int[])
      group by result.artifact_id, test_case.id
    `,
  );
}

/** Returns, for each target and set, how many required jobs of a suite have not started. */
export function jobsWaiting(tx: Tx, suite: string) {
  return tx.many(
    z.object({ target: z.string(), set: z.number(), jobs: z.number() }),
    sql`
      select job.target, job.benchmark_set as set, count(*) as jobs
      from benchmark_job as job join benchmark_request as request on request.id = job.request_id
      where job.state = 'queued' and not job.optional and request.suite = ${suite}
      group by job.target, job.benchmark_set
    `,
  );
}

/** Removes jobs that ended long ago and that no waiting request needs; results stay. */
export async function removeOldJobs(tx: Tx, endedBefore: Date, most = 1_000): Promise<number> {
  const [counted] = await tx.many(
    z.object({ removed: z.number() }),
    sql`
      with old as (
        select job.id, job.state from benchmark_job as job
        where job.ended_at is not null and job.ended_at < ${endedBefore}
          and not exists (
            select from benchmark_request_job as waits
            join benchmark_request as request on request.id = waits.request_id
            where waits.job_id = job.id and request.ended_at is null)
        order by job.ended_at limit ${most}
        for update of job skip locked
      ), remembered as (
        update benchmark_request_job as waits set failed = true
        from old where waits.job_id = old.id and old.state = 'failure'
      ), removed as (
        delete from benchmark_job as job using old where job.id = old.id returning job.id
      )
      select count(*) as removed from removed
    `,
  );
  return counted?.removed ?? 0;
}
