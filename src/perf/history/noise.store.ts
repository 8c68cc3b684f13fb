import { z } from "zod";
import { EnvironmentFacts } from "#api/collector.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const RunsOfArtifact = z.object({
  environmentId: z.number(),
  artifactId: z.number(),
  artifact: z.string(),
  isMaster: z.boolean(),
  iterations: z.number(),
  collector: z.string(),
  least: z.array(z.number().nullable()),
  scatter: z.array(z.number().nullable()).nullable(),
});
export type RunsOfArtifact = z.infer<typeof RunsOfArtifact>;

/**
 * Returns the newest results of a case on each kind of machine, at most `most` of each, newest artifacts first.
 *
 * The index of a series alone selects them: of three thousand results, only those that are shown are fetched.
 */
export function newestRuns(tx: Tx, caseId: number, most: number): Promise<RunsOfArtifact[]> {
  return tx.many(
    RunsOfArtifact,
    sql`
      select newest.environment_id as "environmentId", newest.artifact_id as "artifactId", newest.tag as artifact,
             newest.kind = 'master' as "isMaster", result.iterations, result.collector_name as collector,
             array_to_json(result.least) as least, array_to_json(result.scatter) as scatter
      from (
        select result.artifact_id, result.environment_id, artifact.tag, artifact.kind,
               row_number() over (partition by result.environment_id
                                  order by artifact.dated_at desc, artifact.tag desc) as nth
        from benchmark_result as result join benchmark_artifact as artifact on artifact.id = result.artifact_id
        where result.case_id = ${caseId}
      ) as newest
      join benchmark_result as result on result.artifact_id = newest.artifact_id and result.case_id = ${caseId}
        and result.environment_id = newest.environment_id
      where newest.nth <= ${most}
      order by newest.environment_id, newest.nth
    `,
  );
}

const SelfTested = z.object({
  environmentId: z.number(),
  metric: z.number(),
  /** Milliseconds since 1970, newest first. */
  at: z.array(z.number()),
  changes: z.array(z.number()),
  p95: z.number(),
});
export type SelfTested = z.infer<typeof SelfTested>;

/**
 * Returns the differences of equal artifacts in self-tests of a case, the last `most` of each metric and kind of
 * machine.
 */
export function selfTestsOf(tx: Tx, caseId: number, most: number): Promise<SelfTested[]> {
  return tx.many(
    SelfTested,
    sql`
      select environment_id as "environmentId", metric,
             array_to_json(array_agg((extract(epoch from at) * 1000)::float8 order by nth)) as at,
             array_to_json(array_agg(change order by nth)) as changes,
             percentile_cont(0.95) within group (order by change) as p95
      from (
        select environment_id, metric, at, change,
               row_number() over (partition by metric, environment_id order by at desc) as nth
        from benchmark_noise where case_id = ${caseId}
      ) as comparison
      where nth <= ${most}
      group by 1, 2
    `,
  );
}

const Machine = z.object({
  id: z.number(),
  fingerprint: z.string(),
  facts: EnvironmentFacts,
});
type Machine = z.infer<typeof Machine>;

export function machinesOf(tx: Tx, environmentIds: readonly number[]): Promise<Machine[]> {
  return tx.many(
    Machine,
    sql`
      select id, fingerprint, facts from benchmark_environment where id = any(${environmentIds}::int[])
    `,
  );
}
