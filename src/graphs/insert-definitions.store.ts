import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { partsOf } from "#scheduling/turns.ts";

/** Large enough to make the round trip worthwhile; small enough that serialising it does not delay other requests. */
const atOnce = 2_000;

/** Keeps definitions under their names, sorted, so that two servers with the same ones lock them in the same order. */
export async function insertDefinitions(
  tx: Tx,
  definitions: readonly { readonly digest: string; readonly body: unknown }[],
): Promise<void> {
  for (const part of partsOf(definitions, atOnce)) {
    await tx.run(sql`
      insert into definition (digest, body)
      select digest, body
      from json_to_recordset(${JSON.stringify(part)}::json) as d (digest text, body jsonb)
      on conflict do nothing
    `);
  }
}
