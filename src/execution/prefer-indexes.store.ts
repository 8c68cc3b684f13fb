import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const preferring = new WeakSet<Tx>();

/**
 * Tells the planner, for this transaction, to go by the indexes.
 *
 * Statements are planned once per connection, perhaps while the tables are empty and a
 * sequential scan is cheapest. Such a plan would still be used at a hundred thousand rows.
 */
export async function preferIndexes(tx: Tx): Promise<void> {
  if (preferring.has(tx)) return;
  preferring.add(tx);
  travel(
    tx.run(sql`
      select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)
    `),
  );
}

const knowing = new WeakSet<Tx>();

/**
 * Tells the planner, for the rest of this transaction, to use the plans that it has.
 *
 * Left to itself, it plans what takes an array anew each time: 0.1 to 0.2 ms for each statement of a claim or an
 * end, for the same indexes. Not for statements about thousands of rows, whose plans the values should choose.
 */
export async function preferKnownPlans(tx: Tx): Promise<void> {
  if (knowing.has(tx)) return;
  knowing.add(tx);
  travel(tx.run(sql`select set_config('plan_cache_mode', 'force_generic_plan', true)`));
}

/**
 * Does not wait for the disk at the end of this transaction.
 *
 * For what a crash may undo without harm, because somebody says it again.
 */
export async function commitWithoutWaiting(tx: Tx): Promise<void> {
  travel(tx.run(sql`select set_config('synchronous_commit', 'off', true)`));
}

/** Not waited for, so that it travels with the next statement; which fails, too, if this should. */
function travel(sent: Promise<unknown>): void {
  sent.catch(() => {});
}
