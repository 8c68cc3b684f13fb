import type { Tx } from "./db.ts";

const lastOf = new WeakMap<Tx, Promise<unknown>[]>();

/** Lets a transaction have last statements. Returns those that were added. */
export function trackLastStatements(tx: Tx): readonly Promise<unknown>[] {
  const last: Promise<unknown>[] = [];
  lastOf.set(tx, last);
  return last;
}

/**
 * Sends the commit together with the last statements, in one round trip.
 *
 * No statement may be sent afterwards. The answers are valid once the transaction has resolved; it throws the error of
 * a failed statement.
 */
export async function withCommit(tx: Tx, sent: Promise<unknown>): Promise<void> {
  const last = lastOf.get(tx);
  if (last === undefined) {
    await sent;
    return;
  }
  sent.catch(() => {});
  last.push(sent);
}
