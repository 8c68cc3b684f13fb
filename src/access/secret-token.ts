import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const prefix = "grange_";
/**
 * A separate prefix, so that people who find one in a log, and a server that gets one in place of a token, can tell the
 * two apart.
 */
const enrolmentPrefix = "grange_enrol_";
/** Separate for the same reason: it opens one object, and is no token of a caller. */
const sharePrefix = "grange_share_";
const idLength = 12;

/** The stored part of a token. Only the holder has the token itself. */
export interface TokenFingerprint {
  /** The beginning of the hash in hex, which identifies the token in tables and for people. */
  readonly id: string;
  /** SHA-256, 32 bytes. */
  readonly hash: Buffer;
}

/** Returns a new token: a prefix that scanners for leaked secrets recognise, and 32 random bytes as base64url. */
export function newToken(): string {
  return prefix + randomBytes(32).toString("base64url");
}

/** Returns a new token that can be exchanged once for a machine's own token. */
export function newEnrolmentToken(): string {
  return enrolmentPrefix + randomBytes(32).toString("base64url");
}

/** Returns a new token of a share link: 32 random bytes. */
export function newShareToken(): string {
  return sharePrefix + randomBytes(32).toString("base64url");
}

export function isShareTokenShaped(text: string): boolean {
  return text.length === sharePrefix.length + 43 && /^grange_share_[A-Za-z0-9_-]{43}$/.test(text);
}

export function isEnrolmentShaped(text: string): boolean {
  return (
    text.length === enrolmentPrefix.length + 43 && /^grange_enrol_[A-Za-z0-9_-]{43}$/.test(text)
  );
}

/** Rejects a text that is not a token before computing anything from it, however long it is. */
export function isTokenShaped(text: string): boolean {
  return text.length === prefix.length + 43 && /^grange_[A-Za-z0-9_-]{43}$/.test(text);
}

export function fingerprintOf(token: string): TokenFingerprint {
  const hash = createHash("sha256").update(token).digest();
  return { id: hash.toString("hex").slice(0, idLength), hash };
}

/** Returns the fingerprint of a token when only its hash (hex) is known. */
export function fingerprintOfHash(hash: string): TokenFingerprint {
  return { id: hash.slice(0, idLength), hash: Buffer.from(hash, "hex") };
}

/** Takes the same time for nearly equal and for different hashes (no timing leak). Both have 32 bytes. */
export function isSameHash(one: Uint8Array, other: Uint8Array): boolean {
  return timingSafeEqual(one, other);
}
