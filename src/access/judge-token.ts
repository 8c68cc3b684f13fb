import { Fault } from "#core/fault.ts";
import { isSameHash, type TokenFingerprint } from "./secret-token.ts";
import type { StoredToken } from "./token.store.ts";

/** Returns a token that is valid now; throws `unauthenticated` for all others. */
export function judgeToken(
  { id, hash }: TokenFingerprint,
  stored: StoredToken | undefined,
  now: Date,
): StoredToken {
  if (stored === undefined || !isSameHash(stored.hash, hash)) {
    throw new Fault(
      "unauthenticated",
      "this farm does not know this token; it may belong to another farm. `grange token create NAME` creates one",
    );
  }
  const { principal, expiresAt, revokedAt } = stored;
  // The holder of a token may know which principal it belongs to.
  const its = `token ${id} of ${principal}`;
  const another = `\`grange token create ${principal}\` creates another one`;
  if (revokedAt !== null) {
    throw new Fault("unauthenticated", `${its} was revoked at ${timeOf(revokedAt)}; ${another}`);
  }
  if (expiresAt !== null && expiresAt <= now) {
    throw new Fault("unauthenticated", `${its} expired at ${timeOf(expiresAt)}; ${another}`);
  }
  return stored;
}

function timeOf(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, "Z");
}
