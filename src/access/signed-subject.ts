import { verify } from "node:crypto";
import { type SignedKind, signedText } from "#core/signed-text.ts";
import type { Tx } from "#db/db.ts";
import { keyFromBytes } from "./public-key.ts";
import { signaturesInUse } from "./signature.store.ts";

/** The subject of a signature. */
export interface SignedSubject {
  readonly kind: SignedKind;
  /** The signed digest, `<hash>/<size>`. */
  readonly digest: string;
}

/** A currently trusted key that has signed. */
export interface Signer {
  readonly keyId: string;
  /** The name under which the key is trusted. */
  readonly name: string;
  readonly signedAt: Date;
}

/** Returns the bytes that a key signs for a subject. */
export function signedSubject(kind: SignedKind, digest: string): Uint8Array {
  return new TextEncoder().encode(signedText(kind, digest));
}

/** Returns whether the signature of the subject was made with the private half of the key (Ed25519, 32 bytes). */
export function isSignedBy(
  publicKey: Uint8Array,
  subject: SignedSubject,
  signature: Uint8Array,
): boolean {
  const bytes = signedSubject(subject.kind, subject.digest);
  return verify(null, bytes, keyFromBytes(publicKey), signature);
}

/**
 * Returns the signers of a subject whose keys are trusted and not revoked.
 *
 * Each signature is verified again, because a row in the table proves nothing.
 */
export async function verifySignatures(tx: Tx, subject: SignedSubject): Promise<Signer[]> {
  const stored = await signaturesInUse(tx, subject.kind, subject.digest);
  return stored
    .filter(({ publicKey, signature }) => isSignedBy(publicKey, subject, signature))
    .map(({ keyId, name, signedAt }) => ({ keyId, name, signedAt }));
}
