import { z } from "zod";
import { JobPurpose, JobState } from "#api/benchmark-request.ts";
import type { JobHolder } from "#api/collector.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { AfterJob } from "./decide-end.ts";

/**
 * Locks the collector's row first, then the job's, in the same order everywhere. Changes nothing, and finds no job,
 * when another process acts for the collector.
 */
function currentProcess({ collector, incarnation }: Omit<JobHolder, "epoch">, now: Date) {
  return sql`
    current_process as (
      update collector
      set last_heartbeat_at = greatest(last_heartbeat_at, ${now}), told_silent_at = null
      where name = ${collector} and incarnation = ${incarnation}
      returning name, incarnation, fingerprint
    )
  `;
}

const Extended = z.object({
  artifactId: z.number(),
  againstId: z.number().nullable(),
  purpose: JobPurpose,
  environmentId: z.number(),
});
type HeldJob = z.infer<typeof Extended>;

/**
 * Extends the lease of a job for its holder, and locks its row; returns undefined when another collector, or no
 * collector, holds it.
 */
export async function extendLease(
  tx: Tx,
  id: string,
  holder: JobHolder,
  now: Date,
  until: Date,
): Promise<HeldJob | undefined> {
  const [held] = await tx.many(
    Extended,
    sql`
      with ${currentProcess(holder, now)}
      update benchmark_job as job
      set lease_until = greatest(job.lease_until, ${until})
      from current_process join benchmark_environment as environment using (fingerprint)
      where job.id = ${id} and job.state = 'in-progress' and job.epoch = ${holder.epoch}
        and job.collector_name = current_process.name and job.incarnation = current_process.incarnation
      returning job.artifact_id as "artifactId", job.against_id as "againstId", job.purpose,
                environment.id as "environmentId"
    `,
  );
  return held;
}

const Standing = z.object({
  state: JobState,
  epoch: z.number(),
  collector: z.string().nullable(),
  incarnation: z.string().nullable(),
  attempts: z.number(),
  maxAttempts: z.number(),
  artifactId: z.number(),
  suite: z.string(),
  /** The process that acts for the named collector now; null when there is none. */
  currentIncarnation: z.string().nullable(),
});
export type JobStanding = z.infer<typeof Standing>;

/** Returns the state of a job, and the current process of the named collector. */
export async function jobStanding(
  tx: Tx,
  id: string,
  collector: string,
): Promise<JobStanding | undefined> {
  const [standing] = await tx.many(
    Standing,
    sql`
      select job.state, job.epoch, job.collector_name as collector, job.incarnation, job.attempts,
             job.max_attempts as "maxAttempts", job.artifact_id as "artifactId", version.suite,
             (select incarnation from collector where name = ${collector}) as "currentIncarnation"
      from benchmark_job as job join benchmark_suite_version as version on version.digest = job.suite_digest
      where job.id = ${id}
    `,
  );
  return standing;
}

/**
 * The same, with the rows of the collector and then the job locked; undefined when this process does not act for the
 * collector.
 */
export async function lockStanding(
  tx: Tx,
  id: string,
  holder: JobHolder,
  now: Date,
): Promise<JobStanding | undefined> {
  const [standing] = await tx.many(
    Standing,
    sql`
      with ${currentProcess(holder, now)}
      select job.state, job.epoch, job.collector_name as collector, job.incarnation, job.attempts,
             job.max_attempts as "maxAttempts", job.artifact_id as "artifactId", version.suite,
             current_process.incarnation as "currentIncarnation"
      from current_process, benchmark_job as job
        join benchmark_suite_version as version on version.digest = job.suite_digest
      where job.id = ${id}
      for no key update of job
    `,
  );
  return standing;
}

/** Stores the decided state of a job. Its epoch ends, unless its holder may report the same end again. */
export async function settleJob(
  tx: Tx,
  id: string,
  after: AfterJob,
  now: Date,
  by: "holder" | "silence",
): Promise<void> {
  const isQueued = after.state === "queued";
  const error = after.state === "success" ? null : after.error;
  await tx.run(sql`
    update benchmark_job
    set state = ${after.state}, lease_until = null, error = ${error},
        ended_at = ${isQueued ? null : now},
        attempts = coalesce(${isQueued ? after.attempts : null}::int, attempts),
        not_before = coalesce(${isQueued ? new Date(now.getTime() + after.afterMs) : null}::timestamptz, not_before),
        incarnation = case when ${by} = 'holder' then incarnation end
    where id = ${id}
  `);
}

/** Further errors of one case of a job give no information; a broken collector would send them forever. */
const mostErrors = 20;

/** Stores the error of a whole job, or of one of its benchmarks. Repeating it changes nothing. */
export async function recordError(
  tx: Tx,
  error: {
    readonly artifactId: number;
    readonly jobId: string;
    readonly caseId: number | null;
    readonly benchmark: string;
    readonly message: string;
  },
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into benchmark_error (artifact_id, job_id, case_id, benchmark, message, at)
    select ${error.artifactId}::int, ${error.jobId}::uuid, ${error.caseId}::int, ${error.benchmark}::text,
           ${error.message}::text, ${now}::timestamptz
    where (select count(*) from benchmark_error
           where job_id = ${error.jobId} and case_id is not distinct from ${error.caseId}::int) < ${mostErrors}
    on conflict do nothing
  `);
}

const Silent = z.object({
  id: z.string(),
  artifactId: z.number(),
  suite: z.string(),
  attempts: z.number(),
  maxAttempts: z.number(),
  collector: z.string(),
});
type SilentJob = z.infer<typeof Silent>;

/** Locks jobs whose lease has expired. Skips jobs that another transaction is reporting (SKIP LOCKED). */
export function lockSilentJobs(tx: Tx, now: Date, most: number): Promise<SilentJob[]> {
  return tx.many(
    Silent,
    sql`
      select job.id, job.artifact_id as "artifactId", version.suite, job.attempts,
             job.max_attempts as "maxAttempts", job.collector_name as collector
      from benchmark_job as job join benchmark_suite_version as version on version.digest = job.suite_digest
      where job.state = 'in-progress' and job.lease_until <= ${now}
      order by job.lease_until
      limit ${most}
      for no key update of job skip locked
    `,
  );
}

/** Whether a request that has not ended waits for a job, or will use it. */
export async function isWaitedFor(tx: Tx, id: string): Promise<boolean> {
  const waiting = await tx.many(
    z.object({}),
    sql`
      select from benchmark_request_job as waits
        join benchmark_request as request on request.id = waits.request_id
      where waits.job_id = ${id} and request.ended_at is null limit 1
    `,
  );
  return waiting.length > 0;
}
