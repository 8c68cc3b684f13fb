import { z } from "zod";
import { RunOutcome } from "#api/run-outcome.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { sql } from "#db/sql.ts";

/** Older runs of the period are not read: a page must not read millions. */
const mostRuns = 200_000;
const mostExamples = 3;

const FlakyJob = z.object({
  repository: z.string(),
  name: z.string(),
  runs: z.number(),
  failures: z.number(),
  actions: z.number(),
  examples: z.array(
    z.object({
      at: z.coerce.date(),
      outcome: RunOutcome,
      message: z.string().nullable(),
      graph: z.string(),
      run: z.number(),
      execution: z.string().nullable(),
      passedIn: z.string().nullable(),
    }),
  ),
});
export type FlakyJob = z.infer<typeof FlakyJob>;

interface Wanted {
  readonly since: Date;
  /** Null: all. */
  readonly repository: string | null;
  /** Only graphs at these places. */
  readonly places: PlacePatterns;
  readonly most: number;
}

/**
 * Returns jobs of which an action succeeded in one run and failed in another, those with most failures first.
 *
 * Lost workers and errors of the farm are no outcome of the action. A result of the cache is no run.
 */
export function flakyJobs(
  tx: Tx,
  { since, repository, places, most }: Wanted,
): Promise<FlakyJob[]> {
  return tx.many(
    FlakyJob,
    sql`
      with ended as materialized (
        select graph_id, job, number, action_digest, outcome, finished_at from run
        where state = 'finished' and finished_at >= ${since} and not cached and action_digest is not null
          and outcome in ('succeeded', 'failed', 'timed_out', 'out_of_memory')
        order by finished_at desc limit ${mostRuns}
      ), seen as materialized (
        select graph.repository, ended.* from ended join graph on graph.id = ended.graph_id
        where ${inPlaces(places, sql`graph.repository`, sql`graph.branch`)}
          and (${repository}::text is null or graph.repository = ${repository}::text)
      ), flaky as materialized (
        select repository, job, action_digest,
          count(*) filter (where outcome <> 'succeeded') as failures,
          (array_agg(graph_id order by finished_at desc) filter (where outcome = 'succeeded'))[1] as passed_in
        from seen group by repository, job, action_digest
        having bool_or(outcome = 'succeeded') and bool_or(outcome <> 'succeeded')
      ), counted as (
        select seen.repository, seen.job, count(*) as runs from seen
        where (repository, job) in (select repository, job from flaky)
        group by seen.repository, seen.job
      ), named as (
        select repository, job, sum(failures) as failures, count(*) as actions from flaky
        group by repository, job
      )
      select named.repository, named.job as name, counted.runs::integer as runs,
        named.failures::integer as failures, named.actions::integer as actions, examples.list as examples
      from named join counted using (repository, job)
      cross join lateral (
        select coalesce(json_agg(json_build_object(
            'at', example.finished_at, 'outcome', example.outcome, 'graph', example.graph_id,
            'run', example.number, 'execution', run.execution_id, 'passedIn', example.passed_in,
            'message', left(coalesce(run.error_lines->0->>'text', run.message), 300)
          ) order by example.finished_at desc), '[]') as list
        from (
          select seen.graph_id, seen.number, seen.outcome, seen.finished_at, flaky.passed_in
          from flaky join seen using (repository, job, action_digest)
          where flaky.repository = named.repository and flaky.job = named.job and seen.outcome <> 'succeeded'
          order by seen.finished_at desc limit ${mostExamples}
        ) as example
        join run on run.graph_id = example.graph_id and run.job = named.job and run.number = example.number
      ) as examples
      order by named.failures desc, named.repository, named.job
      limit ${most}
    `,
  );
}
