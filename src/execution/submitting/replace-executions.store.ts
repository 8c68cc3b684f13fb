import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { laneOf } from "../claiming/fair-lane.ts";
import { queuePlace } from "../claiming/queue-place.ts";
import { ExecutionId } from "../execution.ts";

/** The new urgency of an execution. */
export interface Urgency {
  readonly id: ExecutionId;
  /** As in REv2, lower priorities come first. */
  readonly priority: number;
  readonly top: boolean;
}

const WaitingRow = z.object({
  id: ExecutionId,
  project: z.string(),
  invocation: z.string(),
  queuedAt: z.date(),
  timeoutMs: z.number(),
  expectedDurationMs: z.number().nullable(),
});

/** Locks the unfinished executions until the transaction ends; returns their ids. */
export async function lockForReplacing(
  tx: Tx,
  ids: readonly ExecutionId[],
): Promise<ExecutionId[]> {
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      select id from execution
      where id = any(${ids}::uuid[]) and state <> 'finished' order by id for no key update
    `,
  );
  return rows.map(({ id }) => id);
}

/**
 * Gives executions the place in the queue that they would have had with this priority.
 *
 * The time that they waited counts. Leased executions get it if they come back. Returns how many were changed; call
 * `lockForReplacing` before.
 */
export async function replaceExecutions(tx: Tx, wanted: readonly Urgency[]): Promise<number> {
  const urgency = new Map(wanted.map((each) => [each.id, each]));
  const waiting = await tx.many(
    WaitingRow,
    sql`
      select id, project, invocation, queued_at as "queuedAt", timeout_ms as "timeoutMs",
        expected_duration_ms as "expectedDurationMs"
      from execution
      where id = any(${[...urgency.keys()]}::uuid[]) and state <> 'finished'
    `,
  );
  const rows = waiting.flatMap(({ expectedDurationMs, ...execution }) => {
    const { priority, top } = urgency.get(execution.id) ?? {};
    if (priority === undefined || top === undefined) return [];
    const expected = expectedDurationMs === null ? {} : { expectedDurationMs };
    return {
      id: execution.id,
      priority,
      lane: laneOf({ ...execution, top }),
      place: queuePlace({ ...execution, ...expected, priority }),
    };
  });
  return tx.run(sql`
    update execution
    set priority = placed.priority, lane = placed.lane, place = placed.place
    from json_to_recordset(${JSON.stringify(rows)}::json) as placed (
      id uuid, priority integer, lane smallint, place bigint)
    where execution.id = placed.id and state <> 'finished'
      and (execution.priority, execution.lane, execution.place)
        is distinct from (placed.priority, placed.lane, placed.place)
  `);
}
