import type { Tx } from "#db/db.ts";

const preferring = new WeakSet<Tx>();

/**
 * Makes the planner use the indexes, for this transaction.
 *
 * Statements are planned once per connection, perhaps while the tables are empty and a sequential scan is cheapest.
 * Such a plan would still be used with a hundred thousand rows.
 */
export async function preferIndexes(tx: Tx): Promise<void> {
  if (preferring.has(tx)) return;
  preferring.add(tx);
  travel(tx, "set local enable_seqscan = off; set local enable_bitmapscan = off");
}

const knowing = new WeakSet<Tx>();

/**
 * Makes the planner use its stored plans, for the rest of this transaction.
 *
 * By default it plans statements with arrays again each time: 0.1 to 0.2 ms for each statement of a claim or an end,
 * for the same indexes. Do not use it for statements about thousands of rows, whose values should decide the plan.
 */
export async function preferKnownPlans(tx: Tx): Promise<void> {
  if (knowing.has(tx)) return;
  knowing.add(tx);
  travel(tx, "set local plan_cache_mode = force_generic_plan");
}

/** Restores the default, for statements that may concern thousands of rows. */
export async function chooseByValues(tx: Tx): Promise<void> {
  if (!knowing.delete(tx)) return;
  travel(tx, "set local plan_cache_mode = auto");
}

/**
 * Commits this transaction without waiting for the disk.
 *
 * For changes that a crash may undo without harm, because they are sent again.
 */
export async function commitWithoutWaiting(tx: Tx): Promise<void> {
  travel(tx, "set local synchronous_commit = off");
}

/**
 * Sends settings with the next statement, without waiting; when they fail, that statement fails, too. They are sent as
 * a script, because a statement with parameters costs both sides twice as much, and each end of an action has two of
 * these.
 */
function travel(tx: Tx, settings: string): void {
  tx.script(settings).catch(() => {});
}
