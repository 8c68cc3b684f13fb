import { z } from "zod";
import {
  type BenchmarkErrorView,
  BenchmarkJobView,
  type RequestState,
  RequestSummary,
} from "#api/benchmark-request.ts";
import { caseKey, TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import { sliceColumns } from "../job-slice.store.ts";
import type { BenchmarkRequestId } from "./request.store.ts";

const Time = z.date().transform((date) => date.toISOString());
const MaybeTime = Time.nullable();

const SummaryRow = RequestSummary.extend({
  createdAt: Time,
  startedAt: MaybeTime,
  endedAt: MaybeTime,
});

/** Selects a page of requests in one statement; the counts use indexes, for the page's requests only. */
function summaries(tx: Tx, chosen: Sql): Promise<RequestSummary[]> {
  return tx.many(
    SummaryRow,
    sql`
      with request as materialized (${chosen})
      select request.id, request.suite, artifact.tag as artifact, parent.tag as parent, request.kind, request.pr,
        request.state, request.backends, request.profiles, request.targets, request.benchmarks, request.paired, request.runs,
        request.requested_by as "requestedBy", request.because, request.created_at as "createdAt",
        request.started_at as "startedAt", request.ended_at as "endedAt", request.ended_by as "endedBy",
        jsonb_build_object('total', jobs.total, 'ended', jobs.ended, 'failed', jobs.failed) as jobs,
        jobs.errors
      from request
      join benchmark_artifact as artifact on artifact.id = request.artifact_id
      left join benchmark_artifact as parent on parent.id = request.parent_id
      cross join lateral (
        select count(*) as total,
          count(*) filter (where job.id is null or job.ended_at is not null) as ended,
          count(*) filter (where waits.failed or job.state = 'failure') as failed,
          coalesce(sum((select count(*) from benchmark_error as error where error.job_id = waits.job_id)), 0)::int as errors
        from benchmark_request_job as waits left join benchmark_job as job on job.id = waits.job_id
        where waits.request_id = request.id
      ) as jobs
      order by request.created_at desc, request.id desc
    `,
  );
}

const columns = sql`
  id, suite, artifact_id, parent_id, kind, pr, state, backends, profiles, targets, benchmarks, paired, runs,
  requested_by, because, created_at, started_at, ended_at, ended_by
`;

export function requestsPage(
  tx: Tx,
  query: {
    readonly suite: string | undefined;
    readonly state: RequestState | undefined;
    readonly before: BenchmarkRequestId | undefined;
    readonly limit: number;
  },
): Promise<RequestSummary[]> {
  const { suite = null, state = null, before = null, limit } = query;
  return summaries(
    tx,
    sql`
      select ${columns} from benchmark_request
      where (${suite}::text is null or suite = ${suite}) and (${state}::text is null or state = ${state})
        and (${before}::uuid is null or (created_at, id) < (
          select created_at, id from benchmark_request where id = ${before}))
      order by created_at desc, id desc limit ${limit}
    `,
  );
}

export function requestSummaries(
  tx: Tx,
  ids: readonly BenchmarkRequestId[],
): Promise<RequestSummary[]> {
  return summaries(
    tx,
    sql`select ${columns} from benchmark_request where id = any(${ids}::uuid[])`,
  );
}

/** Returns the requests that ended last, over all suites. */
export async function endedLately(tx: Tx, most: number): Promise<RequestSummary[]> {
  const ended = await summaries(
    tx,
    sql`
      select ${columns} from benchmark_request where ended_at is not null
      order by ended_at desc limit ${most}
    `,
  );
  return ended.toSorted((a, b) => ((a.endedAt ?? "") < (b.endedAt ?? "") ? 1 : -1));
}

const JobRow = BenchmarkJobView.omit({ usualSeconds: true }).extend({
  createdAt: Time,
  startedAt: MaybeTime,
  endedAt: MaybeTime,
});
export type JobRow = z.infer<typeof JobRow>;

export function jobsForPage(tx: Tx, id: BenchmarkRequestId): Promise<JobRow[]> {
  return tx.many(
    JobRow,
    sql`
      select job.id, artifact.tag as artifact, against.tag as against, ${sliceColumns},
        job.optional, job.state, job.attempts,
        job.max_attempts as "maxAttempts", job.collector_name as collector, job.created_at as "createdAt",
        job.started_at as "startedAt", job.ended_at as "endedAt", job.error
      from benchmark_request_job as waits
      join benchmark_job as job on job.id = waits.job_id
      join benchmark_artifact as artifact on artifact.id = job.artifact_id
      left join benchmark_artifact as against on against.id = job.against_id
      where waits.request_id = ${id}
      order by job.purpose <> 'backfill', job.purpose, job.target, job.section, job.backend, job.profile,
        job.benchmark_set, job.created_at
    `,
  );
}

const ErrorRow = z
  .object({
    artifact: z.string(),
    benchmark: z.string(),
    message: z.string(),
    at: Time,
    testCase: TestCase.nullable(),
  })
  .transform(
    ({ testCase, ...error }): z.infer<typeof BenchmarkErrorView> => ({
      ...error,
      case: testCase === null ? null : caseKey(testCase),
    }),
  );

/** Returns the errors of a request's jobs, also of jobs that were removed since. */
export function errorsForPage(tx: Tx, id: BenchmarkRequestId, most = 500) {
  return tx.many(
    ErrorRow,
    sql`
      select artifact.tag as artifact, error.benchmark, error.message, error.at,
        case when test_case.id is not null then jsonb_build_object(
          'section', test_case.section, 'benchmark', test_case.benchmark, 'profile', test_case.profile,
          'scenario', test_case.scenario, 'backend', test_case.backend, 'target', test_case.target)
        end as "testCase"
      from benchmark_request_job as waits
      join benchmark_error as error on error.job_id = waits.job_id
      join benchmark_artifact as artifact on artifact.id = error.artifact_id
      left join benchmark_case as test_case on test_case.id = error.case_id
      where waits.request_id = ${id}
      order by error.at, error.id limit ${most}
    `,
  );
}

export async function hasReport(tx: Tx, id: BenchmarkRequestId): Promise<boolean> {
  const found = await tx.many(
    z.object({ id: z.uuid() }),
    sql`select request_id as id from benchmark_report where request_id = ${id}`,
  );
  return found.length > 0;
}
