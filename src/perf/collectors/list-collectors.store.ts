import { z } from "zod";
import { JobState } from "#api/benchmark-request.ts";
import { EnvironmentFacts } from "#api/collector.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { StoredSlice, sliceColumns } from "../job-slice.store.ts";
import { RegisteredCollector } from "./collector.store.ts";

/** The number of latest jobs for the mean. */
const latestJobs = 20;
/** The number of latest similar jobs; older durations have little relevance. */
const latestAlike = 5;

const Listed = RegisteredCollector.omit({
  outOfDutyByTest: true,
  toldSilentAt: true,
  incarnation: true,
}).extend({
  addedAt: z.date(),
  version: z.string().nullable(),
  environment: EnvironmentFacts.nullable(),
  meanJobSeconds: z.number().nullable(),
  testAt: z.date().nullable(),
  testPassed: z.boolean().nullable(),
  testComparisons: z.number().nullable(),
  testAlarms: z.number().nullable(),
});
export type ListedCollector = z.infer<typeof Listed>;

/** Returns all collectors, also absent ones; or the named one. */
export function listCollectors(tx: Tx, name: string | null = null): Promise<ListedCollector[]> {
  return tx.many(
    Listed,
    sql`
      select collector.name, collector.target, collector.benchmark_set as "set",
             collector.may_take_over as "mayTakeOver", collector.active, collector.out_of_duty as "outOfDuty",
             collector.added_at as "addedAt", collector.last_heartbeat_at as "lastHeartbeatAt", collector.version,
             collector.fingerprint, environment.facts as environment, took.mean as "meanJobSeconds",
             test.at as "testAt", test.passed as "testPassed", test.comparisons as "testComparisons",
             test.alarms as "testAlarms"
      from collector
        left join benchmark_environment as environment using (fingerprint)
        left join lateral (
          select at, passed, comparisons, alarms from collector_self_test
          where collector_name = collector.name order by at desc limit 1
        ) as test on true
        left join lateral (
          select avg(seconds)::float8 as mean
          from (
            select extract(epoch from ended_at - started_at) as seconds from benchmark_job
            where collector_name = collector.name and state = 'success'
            order by ended_at desc limit ${latestJobs}
          ) as latest
        ) as took on true
      where ${name}::text is null or collector.name = ${name}
      order by collector.target, collector.benchmark_set nulls last, collector.name
    `,
  );
}

const RunningJob = StoredSlice.extend({
  id: z.string(),
  artifact: z.string(),
  against: z.string().nullable(),
  optional: z.boolean(),
  state: JobState,
  attempts: z.number(),
  maxAttempts: z.number(),
  collector: z.string(),
  createdAt: z.date(),
  startedAt: z.date().nullable(),
  usualSeconds: z.number().nullable(),
});
export type RunningJobOfCollector = z.infer<typeof RunningJob>;

/** Returns the running jobs of collectors. */
export function runningJobsOfCollectors(tx: Tx): Promise<RunningJobOfCollector[]> {
  return tx.many(
    RunningJob,
    sql`
      select job.id, artifact.tag as artifact, against.tag as against, ${sliceColumns},
             job.optional, job.state, job.attempts, job.max_attempts as "maxAttempts", job.collector_name as collector,
             job.created_at as "createdAt", job.started_at as "startedAt", alike.mean as "usualSeconds"
      from benchmark_job as job
        join benchmark_artifact as artifact on artifact.id = job.artifact_id
        left join benchmark_artifact as against on against.id = job.against_id
        left join lateral (
          select avg(seconds)::float8 as mean
          from (
            select extract(epoch from ended_at - started_at) as seconds from benchmark_job as done
            where done.target = job.target and done.section = job.section and done.backend = job.backend
              and done.profile = job.profile and done.benchmark_set = job.benchmark_set
              and done.state = 'success' and done.ended_at > done.started_at
            order by done.ended_at desc limit ${latestAlike}
          ) as latest
        ) as alike on true
      where job.state = 'in-progress'
    `,
  );
}
