import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Records that a browser returned with a state; returns false when the state was recorded before. */
export async function recordUsedState(
  tx: Tx,
  stateHash: Uint8Array,
  expiresAt: Date,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into used_sign_in_state (state_hash, expires_at) values (${stateHash}, ${expiresAt})
    on conflict do nothing
  `);
  return inserted > 0;
}

/** Removes states that are too old to be accepted, whether they were used or not. */
export function removeUsedStates(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`delete from used_sign_in_state where expires_at < ${before}`);
}
