import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Returns whether the farm's access setting was chosen: false only before the first start of a new farm. */
export async function accessIsChosen(tx: Tx): Promise<boolean> {
  const rows = await tx.many(
    z.object({ by: z.string() }),
    sql`select chosen_by as by from access_choice`,
  );
  return rows.length > 0;
}

/** Records that the setting was chosen; returns false when it had been chosen before. */
export async function insertAccessChoice(tx: Tx, by: string, now: Date): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into access_choice (chosen_at, chosen_by) values (${now}, ${by}) on conflict do nothing
  `);
  return inserted > 0;
}
