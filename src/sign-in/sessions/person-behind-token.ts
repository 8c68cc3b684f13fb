import { judgeToken } from "#access/judge-token.ts";
import { principalNamed } from "#access/principal.store.ts";
import { fingerprintOf, isTokenShaped } from "#access/secret-token.ts";
import { storedToken } from "#access/token.store.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import type { NewSignIn } from "./session-service.ts";

/** The holder of a valid token. */
interface TokenHolder {
  readonly principal: string;
  readonly tokenId: string;
  readonly expiresAt: Date | null;
}

/** Returns the holder of a token; throws `unauthenticated`, and `permission_denied` for machines. */
export async function personBehind(tx: Tx, token: string, now: Date): Promise<TokenHolder> {
  if (!isTokenShaped(token)) {
    throw new Fault(
      "unauthenticated",
      "this is not a token: a token begins with grange_ and has 50 characters, as `grange token create` prints it",
    );
  }
  const fingerprint = fingerprintOf(token);
  const stored = await storedToken(tx, fingerprint.id);
  const { principal, expiresAt } = judgeToken(fingerprint, stored, now);
  await requirePerson(tx, principal);
  return { principal, tokenId: fingerprint.id, expiresAt };
}

/** The same for a token that was checked before and is identified by its public part. */
export async function personOfToken(
  tx: Tx,
  tokenId: string,
  now: Date,
): Promise<TokenHolder | undefined> {
  const stored = await storedToken(tx, tokenId);
  if (stored === undefined || stored.revokedAt !== null) return undefined;
  if (stored.expiresAt !== null && stored.expiresAt <= now) return undefined;
  return { principal: stored.principal, tokenId, expiresAt: stored.expiresAt };
}

export function signingIn(holder: TokenHolder, formerSecret: string | undefined): NewSignIn {
  const { principal, tokenId, expiresAt } = holder;
  return {
    principal,
    groups: [],
    voucher: { kind: "token", tokenId },
    notAfter: expiresAt,
    formerSecret,
  };
}

/**
 * Throws unless the principal is a person: a machine's token is stored on that machine, and is only for its own
 * protocol.
 */
async function requirePerson(tx: Tx, name: string): Promise<void> {
  const known = await principalNamed(tx, name);
  if (known === undefined || known.kind === "person" || known.kind === "ci") return;
  throw new Fault(
    "permission_denied",
    `${name} is a ${known.kind}, and only persons can sign in to the pages; create a token for yourself (\`grange token create NAME\`)`,
  );
}
