import { z } from "zod";
import { containsWords } from "#db/contains-words.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Returns the names of workers that contain all of the words, which are in lower case. */
export async function findWorkers(
  tx: Tx,
  words: readonly string[],
  limit: number,
): Promise<string[]> {
  const rows = await tx.many(
    z.object({ name: z.string() }),
    sql`
      select name from worker where ${containsWords(sql`name`, words)}
      order by length(name), name limit ${limit}
    `,
  );
  return rows.map(({ name }) => name);
}
