import { z } from "zod";
import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";
import type { WorkerProcess } from "./lease.ts";

/** Who speaks for the worker of a name; undefined when nobody has it. */
export async function principalOfWorker(tx: Tx, name: string): Promise<string | undefined> {
  const [row] = await tx.many(
    z.object({ principal: z.string() }),
    sql`select principal from worker where name = ${name}`,
  );
  return row?.principal;
}

/** Who a process came as, and what it offers; undefined when it does not hold its name. */
export async function standingOfWorker(
  tx: Tx,
  { name, instanceId }: WorkerProcess,
): Promise<{ readonly principal: string; readonly platform: Platform } | undefined> {
  const [row] = await tx.many(
    z.object({ principal: z.string(), platform: Platform }),
    sql`
      select principal, platform from worker where name = ${name} and instance_id = ${instanceId}
    `,
  );
  return row;
}

const Held = z.object({
  executionId: ExecutionId,
  /** Also while it waits again because that worker was lost: its result may still come, and is taken until another one has it. */
  isLeased: z.boolean(),
  attempt: z.number(),
  epoch: z.number(),
  /** Of that worker; null when nobody holds it. */
  principal: z.string().nullable(),
});
export type Held = z.infer<typeof Held>;

/** Who holds executions now, or did until it was lost and nobody was handed them since, and under which epoch. Those that are gone are left out. */
export function holdersOf(tx: Tx, ids: readonly ExecutionId[]): Promise<Held[]> {
  return tx.many(
    Held,
    sql`
      select execution.id as "executionId", state = 'leased' or worker.name is not null as "isLeased", execution.attempt,
        execution.epoch, worker.principal
      from execution
      left join execution_attempt as lost on state = 'queued' and lost.execution_id = execution.id
        and lost.attempt = execution.attempt and lost.epoch = execution.epoch
        and lost.outcome = 'worker_lost'
      cross join lateral (
        select case state when 'leased' then execution.worker else lost.worker end as name) as holder
      left join worker on worker.name = holder.name
      where execution.id = any(${ids}::uuid[])
    `,
  );
}
