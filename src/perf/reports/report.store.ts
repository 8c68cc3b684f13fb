import { z } from "zod";
import { Report } from "#api/benchmark-comparison.ts";
import { Section, type TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const RequestToReport = z.object({
  suite: z.string(),
  artifactId: z.number(),
  parentId: z.number().nullable(),
});

/** Reads the data for the report of a request. */
export async function requestToReport(tx: Tx, requestId: string) {
  const [row] = await tx.many(
    RequestToReport,
    sql`
      select request.suite, request.artifact_id as "artifactId", request.parent_id as "parentId"
      from benchmark_request as request
      where request.id = ${requestId}
    `,
  );
  return row;
}

const RequestedBackend = z.object({ section: Section, target: z.string(), backend: z.string() });

/** Returns the cases for which a request has, or had, jobs: other cases of its parent do not count as missing. */
export async function requestedOf(
  tx: Tx,
  requestId: string,
): Promise<(testCase: TestCase) => boolean> {
  const rows = await tx.many(
    RequestedBackend.extend({ profile: z.string(), benchmarks: z.array(z.string()) }),
    sql`
      select distinct job.section, job.target, job.backend, job.profile, job.benchmarks
      from benchmark_request_job as waits join benchmark_job as job on job.id = waits.job_id
      join benchmark_request as request on request.id = waits.request_id
      where waits.request_id = ${requestId} and job.artifact_id = request.artifact_id and job.purpose = 'own'
    `,
  );
  return (testCase) =>
    rows.some(
      (job) =>
        job.section === testCase.section &&
        job.target === testCase.target &&
        job.backend === testCase.backend &&
        (job.profile === testCase.profile || testCase.section !== "compile") &&
        (job.benchmarks.length === 0 || job.benchmarks.includes(testCase.benchmark)),
    );
}

/** Returns the artifacts that a request's jobs measured: its own, and a missing parent. */
export async function artifactsOfRequest(tx: Tx, requestId: string): Promise<number[]> {
  const rows = await tx.many(
    z.object({ artifactId: z.number() }),
    sql`
      select distinct artifact_id as "artifactId" from benchmark_job
      where request_id = ${requestId} and purpose in ('own', 'backfill') order by artifact_id
    `,
  );
  return rows.map(({ artifactId }) => artifactId);
}

/** Returns false when a report exists already, which stays unchanged. */
export async function keepReport(tx: Tx, report: Report): Promise<boolean> {
  const kept = await tx.run(sql`
    insert into benchmark_report (request_id, document, made_at)
    values (${report.requestId}, ${JSON.stringify(report)}::jsonb, ${report.madeAt})
    on conflict (request_id) do nothing
  `);
  return kept > 0;
}

export async function reportOf(tx: Tx, requestId: string): Promise<Report | undefined> {
  const [row] = await tx.many(
    z.object({ document: Report }),
    sql`select document from benchmark_report where request_id = ${requestId}`,
  );
  return row?.document;
}

/** Returns the request with the newest report, of one suite or of all. */
export async function latestReported(
  tx: Tx,
  suite: string | undefined,
): Promise<string | undefined> {
  const [row] = await tx.many(
    z.object({ requestId: z.string() }),
    sql`
      select request_id as "requestId" from benchmark_report
      join benchmark_request as request on request.id = request_id
      where ${suite ?? null}::text is null or request.suite = ${suite ?? null}
      order by made_at desc, request_id
      limit 1
    `,
  );
  return row?.requestId;
}

/** Requests whose ids begin with this text, at most two: one is a match, and two are ambiguous. */
export async function requestsBeginning(tx: Tx, beginning: string): Promise<string[]> {
  const rows = await tx.many(
    z.object({ id: z.string() }),
    sql`
      select id from benchmark_request where starts_with(id::text, ${beginning}) order by id limit 2
    `,
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns whether such a request exists; if so, whether it has ended, and whether it had an artifact to compare with.
 */
export async function standingOfRequest(tx: Tx, requestId: string) {
  const [row] = await tx.many(
    z.object({ state: z.string(), isOver: z.boolean(), hasParent: z.boolean() }),
    sql`
      select state, ended_at is not null as "isOver", parent_id is not null as "hasParent" from benchmark_request where id = ${requestId}
    `,
  );
  return row;
}

/** Returns versions that show, without reading reports, whether requests have changed; deleted requests are missing. */
export async function reportVersions(
  tx: Tx,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.many(
    z.object({ id: z.string(), version: z.string() }),
    sql`
      select request.id, concat_ws(' ', request.state, report.made_at) as version
      from benchmark_request as request
      left join benchmark_report as report on report.request_id = request.id
      where request.id = any(${requestIds}::uuid[])
    `,
  );
  return new Map(rows.map(({ id, version }) => [id, version]));
}
