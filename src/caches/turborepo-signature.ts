import { createHmac, type Hmac, timingSafeEqual } from "node:crypto";

/** An artifact that a client of Turborepo stores. */
export interface SignedArtifact {
  readonly hash: string;
  /** Empty when the client names its team by a slug only: Turborepo then signs without a team. */
  readonly teamId: string;
  /** The header `x-artifact-tag`. */
  readonly tag: string | undefined;
}

const scheme = "artifact-signature:v2";

/**
 * Computes the signature of an artifact with one key, while its bytes pass.
 *
 * Turborepo signs with HMAC-SHA256: the name of the scheme, the hash, the id of the team and the bytes, each after its
 * length as 64 bits, little-endian. Source: observed with turbo 2.11; a test compares it with that program. Versions
 * before June 2026 signed without lengths, so one text could mean two artifacts; those signatures are not accepted.
 */
export class TurborepoSignature {
  readonly #hmac: Hmac;

  constructor(key: Uint8Array, { hash, teamId }: SignedArtifact, sizeBytes: number) {
    this.#hmac = createHmac("sha256", key);
    for (const field of [scheme, hash, teamId]) {
      const bytes = Buffer.from(field);
      this.#hmac.update(lengthOf(bytes.byteLength)).update(bytes);
    }
    this.#hmac.update(lengthOf(sizeBytes));
  }

  add(chunk: Uint8Array): void {
    this.#hmac.update(chunk);
  }

  /** Returns whether a tag is the signature of what was added. Call it once. */
  matches(tag: string): boolean {
    const expected = this.#hmac.digest();
    const given = Buffer.from(tag, "base64");
    return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
  }
}

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes));
  return length;
}
