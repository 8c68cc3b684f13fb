import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { insertSignature, type NewSignature } from "./signature.store.ts";
import { isSignedBy, type Signer } from "./signed-subject.ts";
import { findKey } from "./signing-key.store.ts";

/** Stores a signature of a trusted key if it is valid for its subject; refuses all others with the reason. */
export async function keepSignature(tx: Tx, offered: NewSignature, now: Date): Promise<Signer> {
  const key = await findKey(tx, offered.keyId);
  if (key === undefined) {
    throw new Fault(
      "failed_precondition",
      `this farm does not trust key ${offered.keyId}; an administrator can add it with \`grange key trust NAME PUBLIC\``,
    );
  }
  if (key.revokedAt !== null) {
    throw new Fault(
      "failed_precondition",
      `key ${key.id} (${key.name}) was revoked by ${key.revokedBy}; sign with another key`,
    );
  }
  if (!isSignedBy(key.publicKey, offered.subject, offered.signature)) {
    throw new Fault(
      "invalid_argument",
      `the signature is not a signature of key ${key.id} for ${offered.subject.kind} ${offered.subject.digest}`,
    );
  }
  await insertSignature(tx, offered, now);
  return { keyId: key.id, name: key.name, signedAt: now };
}
