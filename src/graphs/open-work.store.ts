import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Answer = z.object({ open: z.boolean() });

/** Returns whether a graph or a search over a range of commits is under way. */
export async function hasOpenGraphs(tx: Tx): Promise<boolean> {
  const [found] = await tx.many(
    Answer,
    sql`
      select exists (select from graph where state = 'running')
        or exists (select from range_search where state = 'running') as open
    `,
  );
  return found?.open ?? false;
}
