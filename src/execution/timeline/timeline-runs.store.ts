import { z } from "zod";
import {
  NullableNumberColumn,
  NumberColumn,
  nullableEnumColumn,
  StringColumn,
} from "#core/column.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId, Outcome } from "../execution.ts";

/** An attempt of an execution on a worker. Times are in ms since 1970. */
export interface TimelineRun {
  readonly execution: ExecutionId;
  /** What requested it: the id of a graph, or a build tool's invocation. */
  readonly invocation: string;
  readonly worker: string;
  readonly leasedAt: number;
  readonly startedAt: number | null;
  /** Null while it is in progress. */
  readonly finishedAt: number | null;
  readonly outcome: Outcome | null;
}

/** All runs in one row, column by column: the n-th values of all columns belong together. */
const Columns = z.object({
  execution: z.array(ExecutionId),
  invocation: StringColumn,
  worker: StringColumn,
  leasedAt: NumberColumn,
  startedAt: NullableNumberColumn,
  finishedAt: NullableNumberColumn,
  outcome: nullableEnumColumn(Outcome),
});

/**
 * Returns the attempts that ended since a time and those in progress, at most `most`, the latest first.
 *
 * Ended executions are found by the index that retention uses: an index of attempts would cost time at each end.
 * PostgreSQL sends them as JSON: with 10,000 rows of 7 values, most of the time was spent on reading the rows.
 */
export async function timelineRuns(tx: Tx, since: Date, most: number): Promise<TimelineRun[]> {
  const [columns] = await tx.many(
    Columns,
    sql`
      with ended as (
        select id, invocation from execution
        where state = 'finished' and finished_at >= ${since} order by finished_at desc limit ${most}
      ), open as (
        -- Two parts, because each has an index: state <> 'finished' would read all executions.
        select id, invocation, worker, leased_at, started_at, state from execution where state = 'queued'
        union all
        select id, invocation, worker, leased_at, started_at, state from execution where state = 'leased'
      ), attempts as (
        select seen.id, seen.invocation, attempt.worker, attempt.leased_at, attempt.started_at,
               attempt.finished_at, attempt.outcome
        from (select id, invocation from ended union all select id, invocation from open) as seen
        join execution_attempt as attempt on attempt.execution_id = seen.id
        where attempt.finished_at >= ${since}
        union all
        select id, invocation, worker, leased_at, started_at, null, null from open where state = 'leased'
      ), newest as (
        select id, invocation, worker, outcome, round(date_part('epoch', leased_at) * 1000) as leased,
               round(date_part('epoch', started_at) * 1000) as started,
               round(date_part('epoch', finished_at) * 1000) as finished
        from attempts order by coalesce(finished_at, 'infinity') desc, leased_at desc limit ${most}
      )
      select coalesce(json_agg(id), '[]') as execution, coalesce(json_agg(invocation), '[]') as invocation,
             coalesce(json_agg(worker), '[]') as worker, coalesce(json_agg(leased), '[]') as "leasedAt",
             coalesce(json_agg(started), '[]') as "startedAt", coalesce(json_agg(finished), '[]') as "finishedAt",
             coalesce(json_agg(outcome), '[]') as outcome
      from newest
    `,
  );
  if (columns === undefined) return [];
  const { invocation, worker, leasedAt, startedAt, finishedAt, outcome } = columns;
  return columns.execution.map((execution, n) => ({
    execution,
    invocation: invocation[n] ?? "",
    worker: worker[n] ?? "",
    leasedAt: leasedAt[n] ?? 0,
    startedAt: startedAt[n] ?? null,
    finishedAt: finishedAt[n] ?? null,
    outcome: outcome[n] ?? null,
  }));
}
