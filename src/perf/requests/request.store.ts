import { z } from "zod";
import { RequestKind, RequestState } from "#api/benchmark-request.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

export const BenchmarkRequestId = z.uuid().brand<"BenchmarkRequestId">();
export type BenchmarkRequestId = z.infer<typeof BenchmarkRequestId>;

const StoredRequest = z.object({
  id: BenchmarkRequestId,
  suite: z.string(),
  artifactId: z.number(),
  parentId: z.number().nullable(),
  kind: RequestKind,
  pr: z.number().nullable(),
  state: RequestState,
  backends: z.array(z.string()),
  profiles: z.array(z.string()),
  targets: z.array(z.string()),
  benchmarks: z.array(z.string()),
  paired: z.boolean(),
  runs: z.number().nullable(),
  requestedBy: z.string(),
  because: z.string(),
  createdAt: z.date(),
  startedAt: z.date().nullable(),
  endedAt: z.date().nullable(),
});
export type StoredRequest = z.infer<typeof StoredRequest>;

const columns = sql`
  request.id, request.suite, request.artifact_id as "artifactId", request.parent_id as "parentId",
  request.kind, request.pr, request.state, request.backends, request.profiles, request.targets,
  request.benchmarks, request.paired, request.runs, request.requested_by as "requestedBy", request.because,
  request.created_at as "createdAt", request.started_at as "startedAt", request.ended_at as "endedAt"
`;

type NewRequest = Omit<StoredRequest, "startedAt" | "endedAt">;

export async function insertRequest(tx: Tx, request: NewRequest): Promise<void> {
  await tx.run(sql`
    insert into benchmark_request
      (id, suite, artifact_id, parent_id, kind, pr, state, backends, profiles, targets, benchmarks, paired, runs,
       requested_by, because, created_at)
    values (${request.id}, ${request.suite}, ${request.artifactId}, ${request.parentId}, ${request.kind},
            ${request.pr}, ${request.state}, ${request.backends}, ${request.profiles}, ${request.targets},
            ${request.benchmarks}, ${request.paired}, ${request.runs}, ${request.requestedBy}, ${request.because},
            ${request.createdAt})
  `);
}

export async function findRequest(
  tx: Tx,
  id: BenchmarkRequestId,
): Promise<StoredRequest | undefined> {
  const [request] = await tx.many(
    StoredRequest,
    sql`select ${columns} from benchmark_request as request where id = ${id}`,
  );
  return request;
}

/** Returns the ids that a text names: a whole id, a unique prefix, or `latest`. */
export async function requestsNamed(tx: Tx, written: string): Promise<BenchmarkRequestId[]> {
  // Not used as a pattern: `%` would match every id.
  if (written !== "latest" && !/^[0-9a-f-]{1,36}$/.test(written)) return [];
  const rows = await tx.many(
    z.object({ id: BenchmarkRequestId }),
    written === "latest"
      ? sql`select id from benchmark_request order by created_at desc,
          (select dated_at from benchmark_artifact as artifact where artifact.id = artifact_id) desc, id limit 1`
      : sql`select id from benchmark_request where id::text like ${`${written}%`} limit 2`,
  );
  return rows.map(({ id }) => id);
}

/** Returns the open request of an artifact; there is never more than one. */
export async function unendedRequest(
  tx: Tx,
  artifactId: number,
): Promise<StoredRequest | undefined> {
  const [request] = await tx.many(
    StoredRequest,
    sql`
      select ${columns} from benchmark_request as request
      where artifact_id = ${artifactId}
        and state in ('waiting-for-artifacts', 'artifacts-ready', 'in-progress')
    `,
  );
  return request;
}

const OpenRequest = StoredRequest.extend({
  artifact: z.string(),
  datedAt: z.date(),
  /** The number of jobs for which it still waits. */
  awaited: z.number(),
});
export type OpenRequest = z.infer<typeof OpenRequest>;

/** Returns all requests that have not ended, of one suite or of all. */
export function openRequests(tx: Tx, suite?: string): Promise<OpenRequest[]> {
  return tx.many(
    OpenRequest,
    sql`
      select ${columns}, artifact.tag as artifact, artifact.dated_at as "datedAt",
        (select count(*) from benchmark_request_job as waits join benchmark_job as job on job.id = waits.job_id
         where waits.request_id = request.id and job.state in ('queued', 'in-progress') and not job.optional
        ) as awaited
      from benchmark_request as request join benchmark_artifact as artifact on artifact.id = request.artifact_id
      where request.state in ('waiting-for-artifacts', 'artifacts-ready', 'in-progress')
        and (${suite ?? null}::text is null or request.suite = ${suite ?? null})
      order by request.created_at, request.id
    `,
  );
}

/** Changes the state of a request; false when it is no longer in the expected state. */
export async function changeState(
  tx: Tx,
  id: BenchmarkRequestId,
  from: RequestState,
  to: RequestState,
  at: Date,
  by: string | null = null,
): Promise<boolean> {
  const isEnd = to === "completed" || to === "failed" || to === "cancelled";
  const changed = await tx.run(sql`
    update benchmark_request
    set state = ${to},
        started_at = case when ${to === "in-progress"} then ${at} else started_at end,
        ended_at = case when ${isEnd} then ${at}::timestamptz end,
        ended_by = ${by}
    where id = ${id} and state = ${from}
  `);
  return changed > 0;
}

/** Makes requests that waited only for these artifacts ready. */
export function readyRequestsOf(tx: Tx, artifactIds: readonly number[]): Promise<number> {
  return tx.run(sql`
    update benchmark_request set state = 'artifacts-ready'
    where artifact_id = any(${artifactIds}::int[]) and state = 'waiting-for-artifacts'
  `);
}

/** Extends an open request. */
export async function widenRequest(
  tx: Tx,
  id: BenchmarkRequestId,
  wider: Pick<
    StoredRequest,
    "backends" | "profiles" | "targets" | "benchmarks" | "paired" | "runs" | "pr" | "parentId"
  >,
): Promise<void> {
  await tx.run(sql`
    update benchmark_request
    set backends = ${wider.backends}, profiles = ${wider.profiles}, targets = ${wider.targets},
        benchmarks = ${wider.benchmarks}, paired = ${wider.paired}, runs = ${wider.runs}, pr = ${wider.pr},
        parent_id = ${wider.parentId}
    where id = ${id} and state in ('waiting-for-artifacts', 'artifacts-ready', 'in-progress')
  `);
}
