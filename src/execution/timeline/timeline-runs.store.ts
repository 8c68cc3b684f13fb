import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId, Outcome } from "../execution.ts";

const TimelineRun = z.object({
  execution: ExecutionId,
  /** What requested it: the id of a graph, or a build tool's invocation. */
  invocation: z.string(),
  worker: z.string(),
  leasedAt: z.date(),
  startedAt: z.date().nullable(),
  /** Null while it is not over. */
  finishedAt: z.date().nullable(),
  outcome: Outcome.nullable(),
});
/** An attempt of an execution on a worker. */
export type TimelineRun = z.infer<typeof TimelineRun>;

/**
 * Returns the attempts that ended since a time and those in progress, at most `most`, the latest first.
 *
 * Ended executions are found by the index that retention uses: an index of attempts would cost time at each end.
 */
export function timelineRuns(tx: Tx, since: Date, most: number): Promise<TimelineRun[]> {
  return tx.many(
    TimelineRun,
    sql`
      with ended as (
        select id, invocation from execution
        where state = 'finished' and finished_at >= ${since} order by finished_at desc limit ${most}
      ), open as (
        select id, invocation, worker, leased_at, started_at, state from execution where state <> 'finished'
      ), attempts as (
        select seen.id, seen.invocation, attempt.worker, attempt.leased_at, attempt.started_at,
               attempt.finished_at, attempt.outcome
        from (select id, invocation from ended union all select id, invocation from open) as seen
        join execution_attempt as attempt on attempt.execution_id = seen.id
        where attempt.finished_at >= ${since}
        union all
        select id, invocation, worker, leased_at, started_at, null, null from open where state = 'leased'
      )
      select id as execution, invocation, worker, leased_at as "leasedAt", started_at as "startedAt",
             finished_at as "finishedAt", outcome
      from attempts order by coalesce(finished_at, 'infinity') desc, leased_at desc limit ${most}
    `,
  );
}
