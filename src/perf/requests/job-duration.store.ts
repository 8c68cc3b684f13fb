import { z } from "zod";
import { JobPurpose } from "#api/benchmark-request.ts";
import { Section } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** The properties that determine how long a job takes. */
export interface JobLike {
  readonly suite: string;
  readonly section: z.infer<typeof Section>;
  readonly target: string;
  readonly backend: string;
  readonly profile: string;
  readonly set: number;
  /** Pairs take a variable time; an own job and one for a parent are the same work. */
  readonly pairs: boolean;
}

const Lasted = z.object({
  section: Section,
  target: z.string(),
  backend: z.string(),
  profile: z.string(),
  set: z.number(),
  suite: z.string(),
  pairs: z.boolean(),
  seconds: z.array(z.number()),
});
export type Lasted = z.infer<typeof Lasted>;

/**
 * Returns the durations of the last ten successful jobs of each kind, the newest first.
 *
 * Jobs without remaining work, parts of a set, and jobs with more runs than usual do not count.
 */
export function durationsOfLike(tx: Tx, likes: readonly JobLike[]): Promise<Lasted[]> {
  if (likes.length === 0) return Promise.resolve([]);
  return tx.many(
    Lasted,
    sql`
      select likeness.suite, likeness.section, likeness.target, likeness.backend, likeness.profile,
             likeness.set, likeness.pairs, array_agg(lasted.seconds order by lasted.ended_at desc) as seconds
      from jsonb_to_recordset(${JSON.stringify(likes)}::jsonb) as likeness (
        suite text, section text, target text, backend text, profile text, set int, pairs boolean)
      cross join lateral (
        select job.ended_at, extract(epoch from (job.ended_at - job.started_at))::float8 as seconds
        from benchmark_job as job join benchmark_artifact as artifact on artifact.id = job.artifact_id
        where job.state = 'success' and job.target = likeness.target and job.section = likeness.section
          and job.backend = likeness.backend and job.profile = likeness.profile
          and job.benchmark_set = likeness.set and (job.purpose in ('paired', 'confirm')) = likeness.pairs
          and job.benchmarks = '{}' and job.runs is null and job.ended_at > job.started_at and artifact.suite = likeness.suite
        order by job.ended_at desc limit 10
      ) as lasted
      group by likeness.suite, likeness.section, likeness.target, likeness.backend, likeness.profile,
               likeness.set, likeness.pairs
    `,
  );
}

const OpenJob = z.object({
  requestId: z.uuid(),
  id: z.uuid(),
  suite: z.string(),
  section: Section,
  target: z.string(),
  backend: z.string(),
  profile: z.string(),
  set: z.number(),
  purpose: JobPurpose,
  optional: z.boolean(),
  state: z.enum(["queued", "in-progress"]),
  startedAt: z.date().nullable(),
  createdAt: z.date(),
  collector: z.string().nullable(),
});
export type OpenJob = z.infer<typeof OpenJob>;

/** Returns all open jobs, once for each request in progress that waits for them. */
export function openJobs(tx: Tx): Promise<OpenJob[]> {
  return tx.many(
    OpenJob,
    sql`
      select waits.request_id as "requestId", job.id, artifact.suite, job.section, job.target, job.backend,
        job.profile, job.benchmark_set as set, job.purpose, job.optional, job.state,
        case when job.state = 'in-progress' then job.started_at end as "startedAt",
        job.created_at as "createdAt", job.collector_name as collector
      from benchmark_job as job
      join benchmark_artifact as artifact on artifact.id = job.artifact_id
      join benchmark_request_job as waits on waits.job_id = job.id
      join benchmark_request as request on request.id = waits.request_id
      where job.state in ('queued', 'in-progress') and request.state = 'in-progress'
    `,
  );
}

const Movement = z.object({ suite: z.string(), at: z.date().nullable() });

/** Returns when a job was last started, ended or inserted for the requests in progress of each suite. */
export function lastMovements(tx: Tx): Promise<z.infer<typeof Movement>[]> {
  return tx.many(
    Movement,
    sql`
      select request.suite, max(greatest(job.created_at, job.started_at, job.ended_at)) as at
      from benchmark_request as request
      join benchmark_request_job as waits on waits.request_id = request.id
      join benchmark_job as job on job.id = waits.job_id
      where request.state = 'in-progress'
      group by request.suite
    `,
  );
}
