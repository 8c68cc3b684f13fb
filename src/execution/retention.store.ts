import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/**
 * Deletes executions that finished before `finished`, with their attempts and logs.
 *
 * It deletes a limited number at a time, so that no transaction is long: repeat the call until it returns 0.
 */
export function deleteOldExecutions(tx: Tx, finished: Date, most = 1_000): Promise<number> {
  return tx.run(sql`
    delete from execution
    where id = any(array(
      select id from execution
      where state = 'finished' and finished_at < ${finished}
      order by finished_at limit ${most}
    ))
  `);
}
