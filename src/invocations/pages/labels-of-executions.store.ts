import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Returns for executions of build tools the mnemonic and the target, as far as the tools named them. */
export async function labelsOfExecutions(
  tx: Tx,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.many(
    z.object({ execution: z.string(), label: z.string() }),
    sql`
      select distinct on (execution_id) execution_id as execution,
             trim(action_mnemonic || ' ' || target_id) as label
      from operation where execution_id = any(${ids}::uuid[])
      order by execution_id, requested_at
    `,
  );
  return new Map(rows.map(({ execution, label }) => [execution, label]));
}
