import { z } from "zod";
import type { SignedKind } from "#core/signed-text.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { SignedSubject } from "./signed-subject.ts";

const StoredSignature = z.object({
  keyId: z.string(),
  name: z.string(),
  publicKey: z.instanceof(Uint8Array),
  signature: z.instanceof(Uint8Array),
  signedAt: z.date(),
});

/** Returns the signatures of a subject whose keys are not revoked. They are not verified here: the caller does it. */
export function signaturesInUse(
  tx: Tx,
  kind: SignedKind,
  digest: string,
): Promise<z.infer<typeof StoredSignature>[]> {
  return tx.many(
    StoredSignature,
    sql`
      select key_id as "keyId", name, public_key as "publicKey", signature, signed_at as "signedAt"
      from signature join signing_key on signing_key.id = key_id
      where kind = ${kind} and digest = ${digest} and revoked_at is null
      order by signed_at, key_id
    `,
  );
}

export interface NewSignature {
  readonly subject: SignedSubject;
  readonly keyId: string;
  /** Ed25519, 64 bytes. */
  readonly signature: Uint8Array;
  readonly signedBy: string;
}

/** Stores a signature. Ed25519 is deterministic, so a second signature by the same key adds nothing. */
export async function insertSignature(tx: Tx, each: NewSignature, now: Date): Promise<void> {
  await tx.run(sql`
    insert into signature (kind, digest, key_id, signature, signed_at, signed_by)
    values (${each.subject.kind}, ${each.subject.digest}, ${each.keyId},
      ${Buffer.from(each.signature)}, ${now}, ${each.signedBy})
    on conflict (kind, digest, key_id) do update
    set signature = excluded.signature, signed_at = excluded.signed_at, signed_by = excluded.signed_by
  `);
}
