import { z } from "zod";
import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "./execution.ts";
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
  isLeased: z.boolean(),
  attempt: z.number(),
  epoch: z.number(),
  /** Of the worker that holds it; null when nobody does. */
  principal: z.string().nullable(),
});
export type Held = z.infer<typeof Held>;

/** Who holds executions now, and under which epoch. Those that are gone are left out. */
export function holdersOf(tx: Tx, ids: readonly ExecutionId[]): Promise<Held[]> {
  return tx.many(
    Held,
    sql`
      select execution.id as "executionId", state = 'leased' as "isLeased", attempt, epoch, principal
      from execution left join worker on state = 'leased' and worker.name = execution.worker
      where execution.id = any(${ids}::uuid[])
    `,
  );
}
