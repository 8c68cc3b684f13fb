import { z } from "zod";
import type { InvocationCounts } from "#api/invocation.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { type ExecutionStanding, executionStandings } from "#execution/execution-standing.store.ts";
import type { InvocationName } from "./invocation-row.store.ts";
import { openState } from "./open-state.ts";

const Ended = z.object({
  project: z.string(),
  id: z.string(),
  succeeded: z.number(),
  failed: z.number(),
  cancelled: z.number(),
  hits: z.number(),
  open: z.number(),
});
const Open = z.object({ project: z.string(), id: z.string(), executionId: z.string() });

/** The number of open actions that are looked up in the queue; the rest counts as queued, which is most likely. */
const mostLookedUp = 5_000;

const keyOf = ({ project, id }: InvocationName) => `${project} ${id}`;

/**
 * Counts the actions of some invocations by state.
 *
 * Ended ones are counted in an index, without reading the operations themselves; an execution counts once, even when it
 * was requested several times. Only open ones are looked up in the queue.
 */
export async function countActions(
  tx: Tx,
  names: readonly InvocationName[],
): Promise<ReadonlyMap<string, InvocationCounts>> {
  if (names.length === 0) return new Map();
  const asked = sql`
    unnest(${names.map(({ project }) => project)}::text[], ${names.map(({ id }) => id)}::text[])
      as asked (project, id)
  `;
  const ended = await tx.many(
    Ended,
    sql`
      select asked.project, asked.id,
        (select count(*) from (
          select distinct execution_id from operation
          where project = asked.project and invocation = asked.id and outcome = 'succeeded') as o
        )::int as succeeded,
        (select count(*) from (
          select distinct execution_id from operation
          where project = asked.project and invocation = asked.id and outcome is not null
            and outcome not in ('succeeded', 'cancelled')) as o
        )::int as failed,
        (select count(*) from (
          select distinct execution_id from operation
          where project = asked.project and invocation = asked.id and outcome = 'cancelled') as o
        )::int as cancelled,
        (select count(*) from (
          select distinct execution_id from operation
          where project = asked.project and invocation = asked.id and outcome is null) as o
        )::int as open,
        (select count(*) from cache_lookup
          where project = asked.project and invocation = asked.id and hit)::int as hits
      from ${asked}
    `,
  );
  const open = await tx.many(
    Open,
    sql`
      select distinct asked.project, asked.id, operation.execution_id as "executionId"
      from ${asked}
      join operation on operation.project = asked.project and operation.invocation = asked.id
      where operation.outcome is null
      order by "executionId" limit ${mostLookedUp}
    `,
  );
  const lookedUp = open.map(({ executionId }) => executionId);
  const standings = new Map<string, ExecutionStanding>(
    (await executionStandings(tx, lookedUp)).map((standing) => [standing.id, standing]),
  );
  const counts = new Map<string, InvocationCounts>(
    ended.map(({ project, id, open: queued, ...settled }) => [
      keyOf({ project, id }),
      { ...settled, queued, executing: 0 },
    ]),
  );
  for (const { executionId, ...name } of open) {
    const count = counts.get(keyOf(name));
    const state = openState(standings.get(executionId));
    if (count === undefined || state === "queued") continue;
    const queued = count.queued - 1;
    counts.set(keyOf(name), { ...count, queued, [state]: count[state] + 1 });
  }
  return counts;
}

const noActions: InvocationCounts = {
  hits: 0,
  queued: 0,
  executing: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
};

export function countsOf(
  counts: ReadonlyMap<string, InvocationCounts>,
  name: InvocationName,
): InvocationCounts {
  return counts.get(keyOf(name)) ?? noActions;
}
