import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** The identity of figures: their case, and the environment in which they were measured. */
interface Taken {
  readonly artifactId: number;
  readonly caseId: number;
  readonly environmentId: number;
  readonly collector: string;
  readonly jobId: string;
  readonly epoch: number;
  readonly at: Date;
}

interface Iteration {
  readonly iteration: number;
  readonly sample: readonly (number | null)[];
  readonly warnings: readonly string[];
}

/**
 * Stores iterations of a test; returns how many were new. Existing ones stay.
 *
 * The row of the case is locked, so that two transactions with iterations of equal machines see each other's iterations
 * when the best value is computed.
 */
export function insertIterations(
  tx: Tx,
  taken: Taken,
  iterations: readonly Iteration[],
): Promise<number> {
  return tx.run(sql`
    with held as (
      select id from benchmark_case where id = ${taken.caseId} for no key update
    )
    insert into benchmark_collection
      (artifact_id, case_id, environment_id, iteration, sample, collector_name, job_id, epoch, measured_at, warnings)
    select ${taken.artifactId}, held.id, ${taken.environmentId}, told.iteration, told.sample, ${taken.collector},
           ${taken.jobId}, ${taken.epoch}, ${taken.at}, told.warnings
    from held, jsonb_to_recordset(${JSON.stringify(iterations)}::jsonb)
      as told (iteration int, sample float8[], warnings text[])
    on conflict do nothing
  `);
}

/**
 * Computes the best value and the scatter of each metric over all stored iterations; `higher` are the numbers of
 * metrics for which more is better.
 */
export async function deriveResult(
  tx: Tx,
  { artifactId, caseId, environmentId, collector }: Taken,
  higher: readonly number[],
): Promise<void> {
  await tx.run(sql`
    insert into benchmark_result as result
      (artifact_id, case_id, environment_id, least, scatter, iterations, collector_name, measured_at)
    select ${artifactId}, ${caseId}, ${environmentId}, coalesce(best.figures, '{}'), best.scatter, stored.iterations,
           ${collector}, stored.at
    from (
      select count(*) as iterations, max(measured_at) as at from benchmark_collection
      where artifact_id = ${artifactId} and case_id = ${caseId} and environment_id = ${environmentId}
    ) as stored, (
      select array_agg(figure order by ordinal) as figures, array_agg(range order by ordinal) as scatter
      from (
        select ordinal, case when ordinal = any(${higher}::int[]) then max(value) else min(value) end as figure,
               case when count(value) < 2 then null
                    when max(value) = min(value) then 0
                    -- Something beside nothing has no ratio: it scatters more than any limit.
                    when min(value) = 0 then 1e9
                    else least(1e9, (max(value) - min(value)) / abs(min(value))) end as range
        from benchmark_collection, unnest(sample) with ordinality as taken (value, ordinal)
        where artifact_id = ${artifactId} and case_id = ${caseId} and environment_id = ${environmentId}
        group by ordinal
      ) as each
    ) as best
    where stored.iterations > 0
    on conflict (artifact_id, case_id, environment_id) do update
    set least = excluded.least, scatter = excluded.scatter, iterations = excluded.iterations, collector_name = excluded.collector_name,
        measured_at = excluded.measured_at
    where result.iterations < excluded.iterations
  `);
}

interface Pair {
  readonly pair: number;
  readonly child: readonly (number | null)[];
  readonly parent: readonly (number | null)[];
  readonly first: boolean;
}

/** Stores pairs of a test; returns how many were new. */
export function insertPairs(
  tx: Tx,
  taken: Taken & { readonly againstId: number; readonly purpose: string },
  pairs: readonly Pair[],
): Promise<number> {
  return tx.run(sql`
    insert into benchmark_pair
      (job_id, purpose, case_id, pair, artifact_id, against_id, environment_id, collector_name, child, parent, parent_first,
       measured_at)
    select ${taken.jobId}, ${taken.purpose}, ${taken.caseId}, told.pair, ${taken.artifactId}, ${taken.againstId},
           ${taken.environmentId}, ${taken.collector}, told.child, told.parent, told.first, ${taken.at}
    from jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb)
      as told (pair int, child float8[], parent float8[], first boolean)
    on conflict do nothing
  `);
}
