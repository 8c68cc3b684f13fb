import { z } from "zod";
import { ChangeToConfirm } from "#api/collector.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { RegisteredCollector } from "../collectors/collector.store.ts";
import { StoredSlice, sliceColumns } from "../job-slice.store.ts";
import type { ServedSets } from "./served-sets.ts";

const Claiming = RegisteredCollector.extend({
  environmentId: z.number().nullable(),
  testedAt: z.date().nullable(),
  testPassed: z.boolean().nullable(),
});
export type ClaimingCollector = z.infer<typeof Claiming>;

/** Records a collector's call and locks its row: its claims are processed one after the other, on all servers. */
export async function recordCollectorCall(
  tx: Tx,
  name: string,
  incarnation: string,
  now: Date,
): Promise<ClaimingCollector | undefined> {
  const [speaking] = await tx.many(
    Claiming,
    sql`
      with heard as (
        update collector
        set last_heartbeat_at = greatest(last_heartbeat_at, ${now}), told_silent_at = null
        where name = ${name} and incarnation = ${incarnation}
        returning name, target, benchmark_set, may_take_over, active, out_of_duty, out_of_duty_by_test,
                  last_heartbeat_at, told_silent_at, fingerprint, incarnation
      )
      select heard.name, heard.target, heard.benchmark_set as "set", heard.may_take_over as "mayTakeOver",
             heard.active, heard.out_of_duty as "outOfDuty", heard.out_of_duty_by_test as "outOfDutyByTest",
             heard.last_heartbeat_at as "lastHeartbeatAt", heard.told_silent_at as "toldSilentAt", heard.fingerprint, heard.incarnation,
             environment.id as "environmentId", test.at as "testedAt", test.passed as "testPassed"
      from heard
        left join benchmark_environment as environment on environment.fingerprint = heard.fingerprint
        left join lateral (
          select at, passed from collector_self_test
          where collector_name = heard.name order by at desc limit 1
        ) as test on true
    `,
  );
  return speaking;
}

const FoundJob = StoredSlice.extend({
  id: z.string(),
  requestId: z.string(),
  suite: z.string(),
  suiteDigest: z.string(),
  doubts: z.array(ChangeToConfirm).nullable(),
  state: z.enum(["queued", "in-progress"]),
  attempts: z.number(),
  maxAttempts: z.number(),
  epoch: z.number(),
  incarnation: z.string().nullable(),
  artifactId: z.number(),
  artifactTag: z.string(),
  // The collector that fetches them parses them: invalid ones must fail their own job, and not all claims.
  components: z.record(z.string(), z.unknown()),
  againstTag: z.string().nullable(),
  againstComponents: z.record(z.string(), z.unknown()).nullable(),
});
export type FoundJob = z.infer<typeof FoundJob>;

const foundColumns = sql`
  job.id, job.request_id as "requestId", artifact.suite, job.suite_digest as "suiteDigest", ${sliceColumns},
  job.doubts, job.state, job.attempts, job.max_attempts as "maxAttempts", job.epoch, job.incarnation, job.artifact_id as "artifactId",
  artifact.tag as "artifactTag", artifact.components, against.tag as "againstTag",
  against.components as "againstComponents"
`;

/** Returns the job that a collector has. */
export async function heldJobOfCollector(tx: Tx, collector: string): Promise<FoundJob | undefined> {
  const [job] = await tx.many(
    FoundJob,
    sql`
      select ${foundColumns}
      from benchmark_job as job
        join benchmark_artifact as artifact on artifact.id = job.artifact_id
        left join benchmark_artifact as against on against.id = job.against_id
      where job.collector_name = ${collector} and job.state = 'in-progress'
      for no key update of job
    `,
  );
  return job;
}

/**
 * Locks and returns the next job of a collector's queue; skips jobs that another transaction has locked.
 *
 * First the job that it had before. Then the requests in the order of their queue, and ended requests with optional
 * jobs after all others; within a request, required jobs before optional ones, and parents first.
 */
export async function firstQueuedJob(
  tx: Tx,
  { name, target }: { readonly name: string; readonly target: string },
  served: ServedSets,
  now: Date,
): Promise<FoundJob | undefined> {
  const [job] = await tx.many(
    FoundJob,
    sql`
      select ${foundColumns}
      from benchmark_job as job
        -- The first in the queue of those that wait for it: it may have been put there by a lesser one.
        cross join lateral (
          select request.state <> 'in-progress' as is_left_over, request.kind, request.pr, request.created_at,
                 asked.tag, request.id
          from (
              select job.request_id as id
              union select request_id from benchmark_request_job where job_id = job.id
            ) as waits
            join benchmark_request as request using (id)
            join benchmark_artifact as asked on asked.id = request.artifact_id
          order by 1, array_position(array['release', 'master', 'try'], request.kind), 3 nulls last, 4,
                   asked.tag collate "C", 6
          limit 1
        ) as request
        join benchmark_artifact as artifact on artifact.id = job.artifact_id
        left join benchmark_artifact as against on against.id = job.against_id
      where job.state = 'queued' and job.target = ${target} and job.not_before <= ${now}
        and (job.benchmark_set = any(${served.sets}::int[])) <> ${served.allBut}
      order by
        job.collector_name is distinct from ${name},
        request.is_left_over,
        array_position(array['release', 'master', 'try'], request.kind),
        request.pr nulls last,
        request.created_at,
        request.tag collate "C",
        request.id,
        job.optional,
        array_position(array['backfill', 'own', 'paired', 'confirm'], job.purpose),
        job.section, job.backend collate "C", job.profile collate "C", job.benchmark_set, job.id
      limit 1
      for no key update of job skip locked
    `,
  );
  return job;
}

const HandedOut = z.object({ epoch: z.number() });

export async function handOut(
  tx: Tx,
  id: string,
  to: { readonly collector: string; readonly incarnation: string },
  attempts: number,
  now: Date,
  until: Date,
): Promise<number> {
  const [handed] = await tx.many(
    HandedOut,
    sql`
      update benchmark_job
      set state = 'in-progress', collector_name = ${to.collector}, incarnation = ${to.incarnation},
          attempts = ${attempts}, epoch = epoch + 1, lease_until = ${until},
          -- The duration counts from the first lease of the collector that ends it.
          started_at = case when state = 'in-progress' then started_at else ${now} end
      where id = ${id} and state in ('queued', 'in-progress')
      returning epoch
    `,
  );
  return HandedOut.parse(handed).epoch;
}

/** Extends the lease of a job to a time. */
export async function keepLease(tx: Tx, id: string, until: Date): Promise<void> {
  await tx.run(
    sql`update benchmark_job set lease_until = greatest(lease_until, ${until}) where id = ${id}`,
  );
}
