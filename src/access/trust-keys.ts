import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { bytesOfPublicKey, publicKeyId } from "./public-key.ts";
import {
  findKey,
  insertKey,
  lockKeyNamed,
  markKeyRevoked,
  type SigningKey,
} from "./signing-key.store.ts";

/** The origin of a statement about a key: who made it, and when. */
interface Said {
  readonly by: string;
  readonly now: Date;
}

/**
 * Makes a key's signatures valid from now on. Trusting it twice under one name has no further effect.
 *
 * A revoked key stays revoked, because an attacker may still have it.
 */
export async function trustKey(
  tx: Tx,
  name: string,
  publicKey: string,
  { by, now }: Said,
): Promise<SigningKey> {
  const bytes = bytesOfPublicKey(publicKey);
  const id = publicKeyId(bytes);
  const isNew = await insertKey(tx, { id, name, publicKey: bytes }, by, now);
  const key = await findKey(tx, id);
  if (key === undefined) {
    throw new Fault(
      "already_exists",
      `"${name}" is the name of another key that is trusted; revoke that key first (\`grange key revoke ${name}\`), or choose another name`,
    );
  }
  if (key.revokedAt !== null) {
    throw new Fault(
      "failed_precondition",
      `this key was revoked by ${key.revokedBy}, and cannot be trusted again. Create another one with \`grange key create\``,
    );
  }
  if (!isNew && key.name !== name) {
    throw new Fault("already_exists", `this key is trusted already, under the name "${key.name}"`);
  }
  return key;
}

/** Revokes a key, and thus everything that it has signed. */
export async function revokeKey(tx: Tx, name: string, { by, now }: Said): Promise<SigningKey> {
  const key = await lockKeyNamed(tx, name);
  if (key === undefined) {
    throw new Fault(
      "not_found",
      `there is no trusted key "${name}"; \`grange key list\` lists all keys`,
    );
  }
  await markKeyRevoked(tx, key.id, by, now);
  return { ...key, revokedAt: now, revokedBy: by };
}
