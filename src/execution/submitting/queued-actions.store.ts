import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";

const ActionRow = z.object({
  id: ExecutionId,
  project: z.string(),
  actionDigest: z.string().transform(parseDigestKey),
});

/** The actions of executions that still wait. */
export async function queuedActions(
  tx: Tx,
  ids: readonly ExecutionId[],
): Promise<Map<ExecutionId, Omit<z.infer<typeof ActionRow>, "id">>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.many(
    ActionRow,
    sql`
      select id, project, action_digest as "actionDigest" from execution
      where id = any(${ids}::uuid[]) and state = 'queued'
    `,
  );
  return new Map(rows.map(({ id, ...action }) => [id, action]));
}
