import { z } from "zod";
import type { Tx } from "./db.ts";
import { sql } from "./sql.ts";

/** Returns the version of PostgreSQL: 180004 is 18.4. */
export async function serverVersion(
  tx: Tx,
): Promise<{ readonly major: number; readonly text: string }> {
  const [row] = await tx.many(
    z.object({ number: z.coerce.number() }),
    sql`select current_setting('server_version_num') as number`,
  );
  const number = row?.number ?? 0;
  const major = Math.floor(number / 10_000);
  return { major, text: `${major}.${number % 10_000}` };
}
