import { z } from "zod";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { sql } from "#db/sql.ts";

const RecentBuild = z.object({
  project: z.string(),
  id: z.string(),
  principal: z.string(),
  tool: z.string(),
  command: z.string(),
  patterns: z.array(z.string()),
  at: z.date(),
  failed: z.boolean(),
});
/** An invocation of a build tool, with whether it failed. */
export type RecentBuild = z.infer<typeof RecentBuild>;

/** Outcomes of actions that failed; named one by one, so that the index on outcomes serves them. */
const failedOutcomes = [
  "failed",
  "timed_out",
  "out_of_memory",
  "worker_lost",
  "infrastructure_error",
];

/**
 * Returns the newest invocations since a time, the newest first. An invocation failed when its build events report it;
 * a tool without build events, when one of its actions failed.
 */
export function recentBuilds(
  tx: Tx,
  query: { readonly since: Date; readonly places: PlacePatterns; readonly most: number },
): Promise<RecentBuild[]> {
  const { since, places, most } = query;
  return tx.many(
    RecentBuild,
    sql`
      select newest.project, newest.id, newest.principal, newest.tool_name as tool,
        coalesce(build.command, '') as command, coalesce(build.patterns, '{}') as patterns,
        newest.first_seen_at as at,
        case
          when build.exit_code is not null
            then build.exit_code <> 0 and build.exit_name is distinct from 'INTERRUPTED'
          when build.invocation is not null
            then coalesce(build.result not in ('COMMAND_SUCCEEDED', 'CANCELLED'), build.complete)
          else exists (
            select from operation
            where operation.project = newest.project and operation.invocation = newest.id
              and operation.outcome = any(${failedOutcomes}::text[]))
        end as failed
      from (
        select project, id, principal, tool_name, first_seen_at from invocation
        where first_seen_at >= ${since} and ${inPlaces(places, sql`project`)}
          and cancelled_at is null
        order by first_seen_at desc, id limit ${most}
      ) as newest
      left join build on build.project = newest.project and build.invocation = newest.id
      order by newest.first_seen_at desc, newest.id
    `,
  );
}

const FailedAction = z.object({
  executionId: z.string(),
  target: z.string(),
  mnemonic: z.string(),
});

/** Returns the first failed actions of an invocation. */
export function failedActionsOf(
  tx: Tx,
  { project, id }: { readonly project: string; readonly id: string },
  most: number,
): Promise<z.infer<typeof FailedAction>[]> {
  return tx.many(
    FailedAction,
    sql`
      select execution_id::text as "executionId", target_id as target, action_mnemonic as mnemonic
      from operation
      where project = ${project} and invocation = ${id} and outcome = any(${failedOutcomes}::text[])
      order by requested_at, id limit ${most}
    `,
  );
}
