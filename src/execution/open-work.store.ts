import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Answer = z.object({ open: z.boolean() });

/** Returns whether an execution waits or runs, or a second run is to be looked after. */
export async function hasOpenExecutions(tx: Tx): Promise<boolean> {
  const [found] = await tx.many(
    Answer,
    sql`
      select exists (select from execution where state = 'queued')
        or exists (select from execution where state = 'leased')
        or exists (select from execution where hedge_is_open) as open
    `,
  );
  return found?.open ?? false;
}
