import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** The public half of an RSA key, as a JSON Web Key. */
export const PublicJwk = z.object({ kty: z.literal("RSA"), n: z.string(), e: z.string() });

const StoredKey = z.object({
  id: z.string(),
  publicKey: PublicJwk,
  sealed: z.instanceof(Uint8Array),
  sealedBy: z.string(),
});
export type StoredKey = Omit<z.infer<typeof StoredKey>, "sealed"> & { readonly sealed: Uint8Array };

/** Two servers that start at the same time then create one key. */
export function lockIdentityKeys(tx: Tx): Promise<unknown> {
  return tx.run(sql`lock table identity_key in exclusive mode`);
}

/** Returns all keys, the newest first. */
export function identityKeys(tx: Tx): Promise<StoredKey[]> {
  return tx.many(
    StoredKey,
    sql`
      select id, public_key as "publicKey", sealed, sealed_by as "sealedBy"
      from identity_key
      order by created_at desc, id
    `,
  );
}

export function addIdentityKey(
  tx: Tx,
  { id, publicKey, sealed, sealedBy }: StoredKey,
): Promise<unknown> {
  return tx.run(sql`
    insert into identity_key (id, public_key, sealed, sealed_by)
    values (${id}, ${JSON.stringify(publicKey)}::jsonb, ${sealed}, ${sealedBy})
  `);
}
