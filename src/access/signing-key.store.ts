import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const SigningKey = z.object({
  id: z.string(),
  name: z.string(),
  publicKey: z.instanceof(Uint8Array),
  trustedAt: z.date(),
  trustedBy: z.string(),
  revokedAt: z.date().nullable(),
  revokedBy: z.string().nullable(),
});
export type SigningKey = z.infer<typeof SigningKey>;

const columns = sql`
  id, name, public_key as "publicKey", trusted_at as "trustedAt", trusted_by as "trustedBy",
  revoked_at as "revokedAt", revoked_by as "revokedBy"
`;

export function listKeys(tx: Tx): Promise<SigningKey[]> {
  return tx.many(SigningKey, sql`select ${columns} from signing_key order by name, trusted_at, id`);
}

export async function findKey(tx: Tx, id: string): Promise<SigningKey | undefined> {
  const [row] = await tx.many(SigningKey, sql`select ${columns} from signing_key where id = ${id}`);
  return row;
}

/** Returns the key that a name refers to now, and locks it until the transaction ends. */
export async function lockKeyNamed(tx: Tx, name: string): Promise<SigningKey | undefined> {
  const [row] = await tx.many(
    SigningKey,
    sql`select ${columns} from signing_key where name = ${name} and revoked_at is null for update`,
  );
  return row;
}

/** Stores a trusted key; returns false when this key, or another one of the same name, exists. */
export async function insertKey(
  tx: Tx,
  key: { readonly id: string; readonly name: string; readonly publicKey: Uint8Array },
  by: string,
  now: Date,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into signing_key (id, name, public_key, trusted_at, trusted_by)
    values (${key.id}, ${key.name}, ${Buffer.from(key.publicKey)}, ${now}, ${by})
    on conflict do nothing
  `);
  return inserted > 0;
}

export async function markKeyRevoked(tx: Tx, id: string, by: string, now: Date): Promise<void> {
  await tx.run(sql`
    update signing_key set revoked_at = ${now}, revoked_by = ${by}
    where id = ${id} and revoked_at is null
  `);
}
