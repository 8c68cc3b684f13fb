import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const OpenAction = z.object({
  project: z.string(),
  digest: z.string().transform(parseDigestKey),
});
type OpenAction = z.infer<typeof OpenAction>;

/** Returns the actions that wait for a worker or run: their inputs must not be evicted. */
export function openActions(tx: Tx): Promise<OpenAction[]> {
  return tx.many(
    OpenAction,
    sql`
      select project, action_digest as digest from execution where state = 'queued'
      union
      select project, action_digest from execution where state = 'leased'
    `,
  );
}
