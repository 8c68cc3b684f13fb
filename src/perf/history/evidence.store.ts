import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";

const Values = z.array(z.number().nullable());

const StoredPair = z.object({
  jobId: z.string(),
  caseId: z.number(),
  environmentId: z.number(),
  collector: z.string(),
  purpose: z.enum(["paired", "confirm"]),
  child: Values,
  parent: Values,
  parentFirst: z.boolean(),
});
export type StoredPair = z.infer<typeof StoredPair>;

/** Returns alternating processes of two artifacts, by job and case, in the order in which they ran. */
export function pairsOf(tx: Tx, childId: number, parentId: number): Promise<StoredPair[]> {
  return tx.many(
    StoredPair,
    sql`
      select job_id as "jobId", case_id as "caseId", environment_id as "environmentId",
             collector_name as collector, purpose, array_to_json(child) as child, array_to_json(parent) as parent,
             parent_first as "parentFirst"
      from benchmark_pair
      where artifact_id = ${childId} and against_id = ${parentId}
      order by job_id, case_id, pair
    `,
  );
}

const Limit = z.object({
  caseId: z.number(),
  metric: z.number(),
  environmentId: z.number(),
  change: z.number(),
});

/** The number of A/A comparisons that count, so that a machine that has become quieter is soon recognised. */
const lastComparisons = 200;

/** Returns the 95th percentile of |relative change| of equal artifacts, for the measured cases of some artifacts. */
export function noiseOf(tx: Tx, artifactIds: readonly number[]) {
  return noiseIn(
    tx,
    sql`
      select case_id from benchmark_result where artifact_id = any(${artifactIds}::int[])
      union select case_id from benchmark_pair where artifact_id = any(${artifactIds}::int[])
    `,
  );
}

/** The same for the named cases. */
export function noiseOfCases(tx: Tx, caseIds: readonly number[]) {
  return noiseIn(tx, sql`select unnest(${caseIds}::int[])`);
}

function noiseIn(tx: Tx, cases: Sql) {
  return tx.many(
    Limit,
    sql`
      select case_id as "caseId", metric, environment_id as "environmentId",
             percentile_cont(0.95) within group (order by change) as change
      from (
        select case_id, metric, environment_id, change,
               row_number() over (partition by case_id, metric, environment_id order by at desc) as nth
        from benchmark_noise
        where case_id in (${cases})
      ) as comparison
      where nth <= ${lastComparisons}
      group by 1, 2, 3
    `,
  );
}

const StoredError = z.object({
  artifactId: z.number(),
  caseId: z.number().nullable(),
  benchmark: z.string(),
  message: z.string(),
});

/** The same failure in ten jobs contains no more information than in one. */
const mostErrors = 1_000;

/** Returns the errors of some artifacts, the latest first. */
export function errorsOf(tx: Tx, artifactIds: readonly number[]) {
  return tx.many(
    StoredError,
    sql`
      select artifact_id as "artifactId", case_id as "caseId", benchmark, message
      from benchmark_error
      where artifact_id = any(${artifactIds}::int[])
      order by at desc, id desc
      limit ${mostErrors}
    `,
  );
}
