import { createHash, createHmac, randomBytes } from "node:crypto";

/** The stored part of a browser's secret. */
export interface SecretFingerprint {
  /** The beginning of the hash in hex, which identifies it for people and in tables. */
  readonly id: string;
  /** SHA-256, 32 bytes. */
  readonly hash: Buffer;
}

const idLength = 16;

/** Returns 32 random bytes as base64url, for a cookie. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Checked before the secret is hashed. The last letter has only two significant bits. */
export function isSecretShaped(text: string): boolean {
  return text.length === 43 && /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(text);
}

export function fingerprintOfSecret(secret: string): SecretFingerprint {
  const hash = createHash("sha256").update(secret).digest();
  return { id: hash.toString("hex").slice(0, idLength), hash };
}

/** Returns another secret that is derived from this one, and from which this one cannot be computed. */
export function derived(secret: string, purpose: "csrf" | "state" | "nonce" | "verifier"): string {
  return createHmac("sha256", secret).update(`grange sign-in ${purpose}`).digest("base64url");
}
