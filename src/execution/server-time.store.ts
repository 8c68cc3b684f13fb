import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** The database's own clock. */
export async function databaseTime(tx: Tx): Promise<Date> {
  const [row] = await tx.many(z.object({ now: z.date() }), sql`select clock_timestamp() as now`);
  return z.object({ now: z.date() }).parse(row).now;
}
