import { z } from "zod";
import { RunOutcome } from "#api/run-outcome.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { sql } from "#db/sql.ts";

/** Older invocations of the period are not read, and no more operations. */
const mostInvocations = 1_000;
const mostOperations = 100_000;
const mostExamples = 3;

const FlakyAction = z.object({
  project: z.string(),
  name: z.string(),
  runs: z.number(),
  failures: z.number(),
  actions: z.number(),
  examples: z.array(
    z.object({
      at: z.coerce.date(),
      outcome: RunOutcome,
      exitCode: z.number().nullable(),
      execution: z.string(),
    }),
  ),
});
export type FlakyAction = z.infer<typeof FlakyAction>;

/**
 * Returns actions of build tools, by mnemonic and target, of which one and the same succeeded once and failed once;
 * those with most failures first. An execution that several asked for counts once.
 */
export function flakyActions(
  tx: Tx,
  wanted: {
    readonly since: Date;
    /** Null: all. */
    readonly project: string | null;
    readonly places: PlacePatterns;
    readonly most: number;
  },
): Promise<FlakyAction[]> {
  const { since, project, places, most } = wanted;
  return tx.many(
    FlakyAction,
    sql`
      with newest as (
        select project, id from invocation
        where first_seen_at >= ${since} and (${project}::text is null or project = ${project}::text)
          and ${inPlaces(places, sql`project`)}
        order by first_seen_at desc, id limit ${mostInvocations}
      ), ended as materialized (
        select distinct on (operation.execution_id) operation.execution_id, operation.project, action_digest,
          outcome, finished_at, exit_code, trim(action_mnemonic || ' ' || target_id) as name
        from (
          select operation.* from newest join operation
            on operation.project = newest.project and operation.invocation = newest.id
          where outcome in ('succeeded', 'failed', 'timed_out', 'out_of_memory')
          limit ${mostOperations}
        ) as operation
        order by operation.execution_id, requested_at
      ), flaky as materialized (
        select project, action_digest from ended group by project, action_digest
        having bool_or(outcome = 'succeeded') and bool_or(outcome <> 'succeeded')
      ), named as materialized (
        select ended.*, flaky.action_digest is not null as is_flaky
        from ended left join flaky using (project, action_digest)
      ), counted as (
        select project, name, count(*) as runs,
          count(*) filter (where is_flaky and outcome <> 'succeeded') as failures,
          count(distinct action_digest) filter (where is_flaky) as actions
        from named group by project, name
      )
      select counted.project, counted.name, counted.runs::integer as runs,
        counted.failures::integer as failures, counted.actions::integer as actions, examples.list as examples
      from counted cross join lateral (
        select coalesce(json_agg(json_build_object('at', finished_at, 'outcome', outcome,
            'execution', execution_id, 'exitCode', exit_code) order by finished_at desc), '[]') as list
        from (
          select * from named
          where named.project = counted.project and named.name = counted.name and is_flaky
            and outcome <> 'succeeded'
          order by finished_at desc limit ${mostExamples}
        ) as example
      ) as examples
      where counted.failures > 0
      order by counted.failures desc, counted.project, counted.name
      limit ${most}
    `,
  );
}
