import { z } from "zod";
import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { claimsNothing } from "../claiming/drain.store.ts";
import { greatestSizeClass, isServedBy } from "../claiming/is-served-by.ts";
import { preferIndexes } from "../claiming/prefer-indexes.store.ts";
import { ExecutionId } from "../execution.ts";
import { notifyExecutions, notifyQueue } from "../notify.store.ts";
import { requirementsText } from "../submitting/check-request.ts";
import { type QueuedKind, queuedKinds } from "../submitting/queued-kinds.store.ts";

/** An execution that waits no longer than this, or than twice its estimated wait, keeps its class. In ms. */
const waitLimitMs = 10_000;
/** If failure is at least this likely, a smaller class is not tried. */
const mostRisk = 0.5;

const Idle = z.object({ platform: Platform, sizeClass: z.number(), free: z.number() });
type Idle = z.infer<typeof Idle>;

/**
 * Moves executions that wait longer than estimated to a lesser class that is idle.
 *
 * The estimate of how long a class is busy comes from its running executions, and the first run of a kind may take a
 * hundred times as long as any similar one. Only for first choices of the strategy `grange`: a retry needs the greater
 * class, and the other strategies keep their choices. Returns how many were moved.
 */
export async function spillToIdleClass(tx: Tx, now: Date, aliveSince: Date): Promise<number> {
  await preferIndexes(tx);
  const kinds = (await queuedKinds(tx)).filter(({ sizeClass }) => sizeClass > 1);
  if (kinds.length === 0) return 0;
  const idle = await idleWorkers(tx, aliveSince);
  const lent: ExecutionId[] = [];
  for (const kind of kinds) {
    const taker = idle.findLast(
      (each) =>
        each.free > 0 &&
        each.sizeClass < kind.sizeClass &&
        isServedBy({ ...kind, sizeClass: each.sizeClass }, each),
    );
    if (taker === undefined) continue;
    const ids = await spill(tx, kind, taker, now);
    taker.free -= ids.length;
    lent.push(...ids);
  }
  if (lent.length > 0) {
    await notifyQueue(tx);
    await notifyExecutions(tx, lent);
  }
  return lent.length;
}

/** Returns workers with free slots, the smallest class first. */
function idleWorkers(tx: Tx, aliveSince: Date): Promise<Idle[]> {
  return tx.many(
    Idle,
    sql`
      select platform, size_class as "sizeClass", sum(slots - held.count)::integer as free
      from worker cross join lateral (
        select count(*) from execution where state = 'leased' and execution.worker = worker.name
      ) as held
      where last_seen_at >= ${aliveSince} and not ${claimsNothing} and held.count < slots
      group by platform, size_class order by size_class
    `,
  );
}

async function spill(tx: Tx, kind: QueuedKind, to: Idle, now: Date): Promise<ExecutionId[]> {
  const most = kind.requirements[greatestSizeClass];
  const requirements = requirementsText(
    kind.requirements,
    most === undefined ? undefined : Number(most),
  );
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      with held as (
        select execution.id from execution
        where state = 'queued' and requirements = ${requirements} and size_class = ${kind.sizeClass}
          and is_sized and size_retries = 0 and least_size_class <= ${to.sizeClass}
          and exists (
            select from size_class_decision as decision
            where decision.execution_id = execution.id and number = 1 and strategy = 'grange'
              and execution.queued_at < ${now}::timestamptz - interval '1 millisecond' * greatest(
                ${waitLimitMs}::double precision,
                2 * ${ofAlternative("waitMs", kind.sizeClass)})
              and ${ofAlternative("risk", to.sizeClass)} < ${mostRisk}::double precision)
        order by place limit ${to.free}
        for update skip locked
      )
      update execution
      set size_class = ${to.sizeClass}, timeout_ms = coalesce(asked_timeout_ms, timeout_ms),
          hedge_after_ms = null, hedge_size_class = null
      where id = any(array(select id from held))
      returning id
    `,
  );
  return rows.map(({ id }) => id);
}

/** Returns a value of the decision for a class; 0 when it has none. */
function ofAlternative(name: "waitMs" | "risk", sizeClass: number) {
  return sql`coalesce((
    select (each ->> ${name}::text)::double precision
    from jsonb_array_elements(
      case when jsonb_typeof(decision.alternatives) = 'array' then decision.alternatives else '[]' end
    ) as each
    where (each ->> 'sizeClass')::integer = ${sizeClass}::integer limit 1), 0)`;
}
