import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Answer = z.object({ open: z.boolean() });

/** Returns whether a repository is to be read, or a command to be carried out, by then. */
export async function hasForgeWorkBy(tx: Tx, by: Date): Promise<boolean> {
  const [found] = await tx.many(
    Answer,
    sql`
      select exists (select from forge_repository where next_at <= ${by})
        or exists (select from forge_delivery where state = 'waiting' and next_at <= ${by})
        or exists (select from forge_comment where state = 'waiting' and next_at <= ${by}) as open
    `,
  );
  return found?.open ?? false;
}
