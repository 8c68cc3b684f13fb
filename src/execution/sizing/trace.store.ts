import { z } from "zod";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { backgroundOwner } from "./background-owner.ts";

const TracedAttempt = z.object({
  sizeClass: z.number(),
  end: z.enum(["succeeded", "failed", "timed_out", "out_of_memory"]),
  durationMs: z.number().nonnegative(),
  timeoutMs: z.number(),
  cpuMs: z.number().nullable(),
  peakMemoryBytes: z.number().nullable(),
});

const Row = z.object({
  /** The position of the row, for the next page; more precise than a Date. */
  finishedAt: z.string(),
  id: z.string(),
  queuedAt: z.coerce.date(),
  project: z.string(),
  similarityKeys: z.array(z.string()),
  timeoutMs: z.number(),
  attempts: z.array(TracedAttempt),
});
/** An ended execution with the attempts that ended by themselves. */
export type TracedExecution = Pick<
  z.infer<typeof Row>,
  "queuedAt" | "project" | "similarityKeys" | "timeoutMs" | "attempts"
>;

const perPage = 500;

/**
 * Yields executions that were submitted since then, in the order of their ends, page by page.
 *
 * Each page is a separate statement, so that a slow reader blocks nothing. Second runs and background runs are left
 * out, because a simulation creates its own.
 */
export async function* tracedExecutions(db: Db, since: Date): AsyncGenerator<TracedExecution[]> {
  let after = { finishedAt: since.toISOString(), id: "00000000-0000-0000-0000-000000000000" };
  for (;;) {
    const page = await db.many(
      Row,
      sql`
        select execution.id, execution.finished_at::text as "finishedAt", queued_at as "queuedAt",
          project, kin as "similarityKeys", coalesce(asked_timeout_ms, execution.timeout_ms)::float8 as "timeoutMs",
          ended.attempts
        from execution cross join lateral (
          select coalesce(json_agg(json_build_object(
              'sizeClass', size_class, 'end', execution_attempt.outcome,
              'durationMs', greatest(0, extract(epoch from execution_attempt.finished_at
                - execution_attempt.started_at) * 1000),
              'timeoutMs', coalesce(execution_attempt.timeout_ms, execution.timeout_ms),
              'cpuMs', execution_attempt.user_ms + execution_attempt.system_ms,
              'peakMemoryBytes', execution_attempt.peak_memory_bytes
            ) order by attempt), '[]') as attempts
          from execution_attempt
          where execution_id = execution.id and size_class is not null and started_at is not null
            and execution_attempt.finished_at is not null
            and execution_attempt.outcome in ('succeeded', 'failed', 'timed_out', 'out_of_memory')
        ) as ended
        where state = 'finished' and owner <> ${backgroundOwner} and hedge_of is null
          and queued_at >= ${since}
          and (execution.finished_at, execution.id)
            > (${after.finishedAt}::timestamptz, ${after.id}::uuid)
        order by execution.finished_at, execution.id limit ${perPage}
      `,
    );
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = { finishedAt: last.finishedAt, id: last.id };
  }
}
