import { createHash, createPublicKey, type KeyObject } from "node:crypto";

const prefix = "ed25519:";

/** Returns the 32 bytes of a text that `PublicKeyText` has accepted. */
export function bytesOfPublicKey(text: string): Buffer {
  return Buffer.from(text.slice(prefix.length), "base64url");
}

export function textOfPublicKey(bytes: Uint8Array): string {
  return prefix + Buffer.from(bytes).toString("base64url");
}

/** Returns the beginning of the SHA-256 of the key's bytes, which identifies the key in tables and for people. */
export function publicKeyId(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}

/** The shape of RFC 8037, which node:crypto accepts without ASN.1. */
export function keyFromBytes(bytes: Uint8Array): KeyObject {
  const x = Buffer.from(bytes).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}
