import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/**
 * Deletes executions that finished before `finished`, with their attempts and logs.
 *
 * A bounded number at a time, so that no transaction is long: call it until it answers 0.
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
