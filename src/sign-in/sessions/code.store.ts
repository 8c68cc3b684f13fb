import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

export async function insertCode(
  tx: Tx,
  code: { readonly hash: Uint8Array; readonly tokenId: string; readonly expiresAt: Date },
): Promise<void> {
  await tx.run(sql`
    insert into sign_in_code (hash, token_id, expires_at)
    values (${code.hash}, ${code.tokenId}, ${code.expiresAt})
  `);
}

/** Deletes a code and returns it; a second call finds none. */
export async function takeCode(
  tx: Tx,
  hash: Uint8Array,
): Promise<{ readonly tokenId: string; readonly expiresAt: Date } | undefined> {
  const [row] = await tx.many(
    z.object({ tokenId: z.string(), expiresAt: z.date() }),
    sql`
      delete from sign_in_code where hash = ${hash}
      returning token_id as "tokenId", expires_at as "expiresAt"
    `,
  );
  return row;
}

export function forgetCodes(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`delete from sign_in_code where expires_at < ${before}`);
}
