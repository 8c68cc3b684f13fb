import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { keepPrincipalAs } from "./principal.store.ts";
import { anyone, type PrincipalKind } from "./principal.ts";
import { fingerprintOf, newToken } from "./secret-token.ts";
import { insertToken } from "./token.store.ts";

interface CreatedToken {
  readonly id: string;
  /** The token. It is returned only here, because the stored fingerprint does not contain it. */
  readonly token: string;
  readonly principal: string;
  readonly expiresAt: Date | undefined;
}

export async function createToken(
  tx: Tx,
  wanted: {
    readonly principal: string;
    /** The kind of the principal. When absent, its current kind, or `person`. */
    readonly kind?: PrincipalKind | undefined;
    readonly createdBy: string;
    readonly expiresInMs: number | undefined;
  },
  now: Date,
): Promise<CreatedToken> {
  const { principal, createdBy, expiresInMs } = wanted;
  if (principal === anyone) {
    throw new Fault(
      "invalid_argument",
      `"${anyone}" stands for callers without a token; choose another name`,
    );
  }
  if (wanted.kind !== undefined) await keepPrincipalAs(tx, principal, wanted.kind);
  const token = newToken();
  const fingerprint = fingerprintOf(token);
  const expiresAt = expiresInMs === undefined ? undefined : new Date(now.getTime() + expiresInMs);
  await insertToken(tx, { principal, fingerprint, createdBy, expiresAt }, now);
  return { id: fingerprint.id, token, principal, expiresAt };
}
