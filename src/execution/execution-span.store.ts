import { z } from "zod";
import { SpanPlace } from "#core/span-place.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "./execution.ts";

/** Stores the places of new executions in traces, in the transaction that queues them. */
export async function insertExecutionSpans(
  tx: Tx,
  spans: readonly { readonly id: ExecutionId; readonly span: SpanPlace }[],
): Promise<void> {
  if (spans.length === 0) return;
  const rows = spans.map(({ id, span }) => ({ id, ...span }));
  await tx.run(sql`
    insert into execution_span (execution_id, trace_id, span_id, parent_id)
    select id, "traceId", "spanId", "parentId"
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as t (id uuid, "traceId" text, "spanId" text, "parentId" text)
    on conflict do nothing
  `);
}

const ExecutionSpan = SpanPlace.extend({
  id: ExecutionId,
  /** The title of the execution, for people. */
  title: z.string(),
});
export type ExecutionSpan = z.infer<typeof ExecutionSpan>;

/** Returns the places of those of the executions that are traced. */
export function spansOfExecutions(tx: Tx, ids: readonly ExecutionId[]): Promise<ExecutionSpan[]> {
  return tx.many(
    ExecutionSpan,
    sql`
      select execution.id, execution.title, span.trace_id as "traceId", span.span_id as "spanId",
        span.parent_id as "parentId"
      from execution_span as span
      join execution on execution.id = span.execution_id
      where span.execution_id = any(${ids}::uuid[])
    `,
  );
}
