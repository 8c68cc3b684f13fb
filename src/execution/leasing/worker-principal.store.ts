import { z } from "zod";
import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";
import type { WorkerProcess } from "./lease.ts";

/** Returns the principal of a worker's name; undefined when no process has it. */
export async function principalOfWorker(tx: Tx, name: string): Promise<string | undefined> {
  const [row] = await tx.many(
    z.object({ principal: z.string() }),
    sql`select principal from worker where name = ${name}`,
  );
  return row?.principal;
}

/** Returns the principal of a process and its offer; undefined when the process does not hold its name. */
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
  /**
   * Also true while it waits again after the loss of its worker: the result is still accepted until another worker gets
   * the execution.
   */
  isLeased: z.boolean(),
  attempt: z.number(),
  epoch: z.number(),
  /** The principal of that worker; null when none holds it. */
  principal: z.string().nullable(),
});
export type Held = z.infer<typeof Held>;

/**
 * Returns the current workers of executions, with the epoch; or the last worker, if it was lost and no other worker has
 * got the execution since. Executions that do not exist are left out.
 */
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
