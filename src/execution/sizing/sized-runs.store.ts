import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId, Outcome } from "../execution.ts";

const Standing = z.object({
  id: ExecutionId,
  state: z.enum(["queued", "leased", "finished"]),
  sizeClass: z.number(),
  least: z.number(),
  most: z.number().nullable(),
  isSized: z.boolean(),
  hedgeOf: ExecutionId.nullable(),
  title: z.string(),
});
/** The state of an execution regarding size classes. */
export type SizeStanding = z.infer<typeof Standing>;

export async function sizeStanding(tx: Tx, id: ExecutionId): Promise<SizeStanding | undefined> {
  const [standing] = await tx.many(
    Standing,
    sql`
      select id, state, size_class as "sizeClass", least_size_class as least, most_size_class as most,
        is_sized as "isSized", hedge_of as "hedgeOf", title
      from execution where id = ${id}
    `,
  );
  return standing;
}

const SizedRun = z.object({
  /** The execution itself, or the original of a second run. */
  requestedId: ExecutionId,
  executionId: ExecutionId,
  attempt: z.number(),
  sizeClass: z.number(),
  worker: z.string().nullable(),
  leasedAt: z.date(),
  startedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
  /** Null while it runs. */
  outcome: Outcome.nullable(),
  message: z.string(),
  timeoutMs: z.number().nullable(),
  exitCode: z.number().nullable(),
  cpuMs: z.number().nullable(),
  peakMemoryBytes: z.number().nullable(),
});
/** One attempt of an execution or of its second run, with the facts that size classes need. */
export type SizedRun = z.infer<typeof SizedRun>;

/** Retries and second runs are few, so this limit is enough for one execution. */
const mostRuns = 1_000;
const mostMessage = 500;

/** Returns all attempts of these executions in the order of their assignment, including running ones. */
export function sizedRuns(tx: Tx, ids: readonly ExecutionId[]): Promise<SizedRun[]> {
  return tx.many(
    SizedRun,
    sql`
      with asked as (
        select id as asked_id, id from execution where id = any(${ids}::uuid[])
        union all
        select hedge_of, id from execution where hedge_of = any(${ids}::uuid[])
      )
      select asked_id as "requestedId", execution_id as "executionId", attempt.attempt,
        coalesce(attempt.size_class, execution.size_class) as "sizeClass", attempt.worker,
        attempt.leased_at as "leasedAt", attempt.started_at as "startedAt",
        attempt.finished_at as "finishedAt", attempt.outcome,
        left(attempt.message, ${mostMessage}) as message, attempt.timeout_ms as "timeoutMs",
        attempt.exit_code as "exitCode", attempt.user_ms + attempt.system_ms as "cpuMs",
        attempt.peak_memory_bytes as "peakMemoryBytes"
      from asked
      join execution using (id)
      join execution_attempt as attempt on attempt.execution_id = asked.id
      union all
      select asked_id, id, attempt,
        coalesce((select worker.size_class from worker where worker.name = execution.worker), size_class),
        worker, leased_at, started_at, null, null, '', timeout_ms, null, null, null
      from asked join execution using (id)
      where state = 'leased'
      order by "leasedAt", attempt
      limit ${mostRuns}
    `,
  );
}
