import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const QueueDepth = z.object({ queued: z.number(), leased: z.number() });
/** The number of executions that wait for a worker, and the number that workers hold. */
type QueueDepth = z.infer<typeof QueueDepth>;

export async function queueDepth(tx: Tx): Promise<QueueDepth> {
  const [row] = await tx.many(
    QueueDepth,
    sql`
      select (select count(*) from execution where state = 'queued') as queued,
             (select count(*) from execution where state = 'leased') as leased
    `,
  );
  return row ?? { queued: 0, leased: 0 };
}
