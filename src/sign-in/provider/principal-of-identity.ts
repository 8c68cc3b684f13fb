import { keepPrincipalAs } from "#access/principal.store.ts";
import { listTokens } from "#access/token.store.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { insertIdentity, recordIdentitySignIn } from "./identity.store.ts";
import type { ClaimedIdentity } from "./identity-of-claims.ts";

/**
 * Returns the principal of a user. A name belongs to the first subject that used it: when an address is later assigned
 * to another person, that person does not get the rights of the first.
 */
export async function principalOfIdentity(
  tx: Tx,
  { issuer, subject, name, isVerified }: ClaimedIdentity,
  now: Date,
): Promise<string> {
  const known = await recordIdentitySignIn(tx, issuer, subject, now);
  if (known !== undefined) return known.principal;
  // A name that a user can choose freely at the provider must not become `root` here.
  if (!isVerified && (await hasTokens(tx, name, now))) {
    throw new Fault(
      "permission_denied",
      `the principal ${name} has tokens of this farm. If that is you, an administrator can connect it with your account: ` +
        `\`grange identity add ${name} --subject SUBJECT\``,
    );
  }
  await keepPrincipalAs(tx, name, "person");
  if (await insertIdentity(tx, { issuer, subject, principal: name }, now)) return name;
  // Another sign-in of the same user at the same time may have been faster.
  const meanwhile = await recordIdentitySignIn(tx, issuer, subject, now);
  if (meanwhile !== undefined) return meanwhile.principal;
  throw new Fault(
    "permission_denied",
    `the name ${name} belongs to another user, who signed in before. If the user has gone, an administrator ` +
      `can free the name: \`grange identity remove ${name}\``,
  );
}

async function hasTokens(tx: Tx, name: string, now: Date): Promise<boolean> {
  return (await listTokens(tx)).some(
    ({ principal, revokedAt, expiresAt }) =>
      principal === name && revokedAt === null && (expiresAt === null || expiresAt > now),
  );
}
