import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Asker = z.object({
  project: z.string(),
  invocation: z.string(),
  target: z.string(),
  mnemonic: z.string(),
  requestedAt: z.date().transform((date) => date.toISOString()),
});

/** Returns which invocations requested an execution, the newest first, up to a limit. */
export function requestedBy(
  tx: Tx,
  executionId: string,
  most = 50,
): Promise<z.output<typeof Asker>[]> {
  return tx.many(
    Asker,
    sql`
      select project, invocation, target_id as target, action_mnemonic as mnemonic,
        requested_at as "requestedAt"
      from operation where execution_id = ${executionId}
      order by requested_at desc, id limit ${most}
    `,
  );
}

/** Returns the execution for which an invocation has waited longest, according to its operations. */
export async function oldestOpenExecutions(
  tx: Tx,
  { project, id }: { readonly project: string; readonly id: string },
  most: number,
): Promise<string[]> {
  const rows = await tx.many(
    z.object({ executionId: z.string() }),
    sql`
      select execution_id as "executionId" from operation
      where project = ${project} and invocation = ${id} and outcome is null
      order by requested_at, id limit ${most}
    `,
  );
  return rows.map(({ executionId }) => executionId);
}
