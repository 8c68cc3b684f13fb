import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { hasOpenExecutions } from "#execution/open-work.store.ts";
import { hasForgeWorkBy } from "#forge/open-work.store.ts";
import { hasGraphWorkBy } from "#graphs/open-work.store.ts";
import { hasRunningSearch } from "#searches/open-work.store.ts";

const Answer = z.object({ open: z.boolean() });

/**
 * Returns whether work waits, runs, or is due by then, in any table.
 *
 * One statement outside of transactions: an idle server sends few others.
 */
export async function hasOpenWorkBy(tx: Tx, by: Date): Promise<boolean> {
  const [found] = await tx.many(
    Answer,
    sql`
      select ${hasOpenExecutions} or ${hasGraphWorkBy(by)} or ${hasRunningSearch}
        or ${hasForgeWorkBy(by)} as open
    `,
  );
  return found?.open ?? false;
}
