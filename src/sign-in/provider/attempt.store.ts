import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Remembers that somebody was sent away. False when too many are on their way already. */
export async function insertAttempt(
  tx: Tx,
  attempt: { readonly stateHash: Uint8Array; readonly returnTo: string; readonly expiresAt: Date },
  most: number,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into sign_in_attempt (state_hash, return_to, expires_at)
    select ${attempt.stateHash}, ${attempt.returnTo}, ${attempt.expiresAt}
    where (select count(*) from sign_in_attempt) < ${most}
  `);
  return inserted > 0;
}

/** Takes an attempt out: whoever comes second finds none. */
export async function takeAttempt(
  tx: Tx,
  stateHash: Uint8Array,
): Promise<{ readonly returnTo: string; readonly expiresAt: Date } | undefined> {
  const [row] = await tx.many(
    z.object({ returnTo: z.string(), expiresAt: z.date() }),
    sql`
      delete from sign_in_attempt where state_hash = ${stateHash}
      returning return_to as "returnTo", expires_at as "expiresAt"
    `,
  );
  return row;
}

export function forgetAttempts(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`delete from sign_in_attempt where expires_at < ${before}`);
}
