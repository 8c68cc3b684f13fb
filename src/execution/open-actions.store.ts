import { z } from "zod";
import { type Digest, parseDigestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const OpenAction = z.object({ digest: z.string().transform(parseDigestKey) });

/** The actions that wait for a worker, or that one has: what they are made of must not go. */
export async function openActions(tx: Tx): Promise<Digest[]> {
  const rows = await tx.many(
    OpenAction,
    sql`
      select action_digest as digest from execution where state = 'queued'
      union
      select action_digest from execution where state = 'leased'
    `,
  );
  return rows.map(({ digest }) => digest);
}
