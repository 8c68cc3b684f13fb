import { setImmediate } from "node:timers/promises";
import type { Tx } from "./db.ts";
import type { Sql } from "./sql.ts";
import { together } from "./together.ts";

/**
 * Runs a statement for each part of a long list.
 *
 * PostgreSQL works on the parts that were sent while the next one is built here, and the process does other work in
 * between. The statements run in the order of the parts. Throws the first error, after all have ended.
 */
export async function runInParts<Item>(
  tx: Tx,
  items: readonly Item[],
  size: number,
  statementFor: (part: readonly Item[]) => Sql,
): Promise<void> {
  const sent: Promise<number>[] = [];
  for (let start = 0; start < items.length; start += size) {
    if (start > 0) await setImmediate();
    const ended = tx.run(statementFor(items.slice(start, start + size)));
    // An error is thrown below: the process must not take it for an unhandled one before.
    ended.catch(() => {});
    sent.push(ended);
  }
  await together(sent);
}
