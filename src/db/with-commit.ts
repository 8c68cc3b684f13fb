import type { Tx } from "./db.ts";

const lastOf = new WeakMap<Tx, Promise<unknown>[]>();

/** Lets a transaction have last statements. Answers those that it was given. */
export function acceptLast(tx: Tx): readonly Promise<unknown>[] {
  const last: Promise<unknown>[] = [];
  lastOf.set(tx, last);
  return last;
}

/**
 * Sends the commit along with what was sent last, for the price of one round trip.
 *
 * All of it has been sent: a statement that came later would be refused. What is answered may be believed
 * when the transaction has resolved; and it throws what one of them failed of.
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
