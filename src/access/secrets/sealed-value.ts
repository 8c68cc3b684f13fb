import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { SecretsKey } from "./secrets-key.ts";

/** The owner of a sealed value; decryption fails for any other owner. */
export interface SealedFor {
  readonly name: string;
  readonly repository: string;
  readonly branch: string;
  readonly users: string | null;
  readonly version: number;
}

// NIST SP 800-38D: GCM is designed for 96 bits. Random nonces are safe for 2^32 values under one key.
const nonceBytes = 12;
const tagBytes = 16;

/** Returns nonce, tag and ciphertext. */
export function seal(key: SecretsKey, about: SealedFor, value: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key.bytes, nonce).setAAD(aboutBytes(about));
  const sealed = Buffer.concat([cipher.update(value), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Undefined when the value was sealed with another key or for another owner, or was altered. */
export function unseal(
  key: SecretsKey,
  about: SealedFor,
  sealed: Uint8Array,
): Uint8Array | undefined {
  if (sealed.byteLength < nonceBytes + tagBytes) return undefined;
  const opening = createDecipheriv("aes-256-gcm", key.bytes, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  opening.setAAD(aboutBytes(about));
  opening.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    const begun = opening.update(sealed.subarray(nonceBytes + tagBytes));
    return Buffer.concat([begun, opening.final()]);
  } catch {
    return undefined;
  }
}

function aboutBytes({ name, repository, branch, users, version }: SealedFor): Buffer {
  return Buffer.from(
    JSON.stringify(["grange secret v1", name, repository, branch, users, version]),
  );
}
