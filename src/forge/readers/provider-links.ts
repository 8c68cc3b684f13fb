import { endTemporaryRights } from "#access/temporary-right.store.ts";
import type { Tx } from "#db/db.ts";
import {
  accountOf,
  type ForgeAccount,
  forgetReadings,
  linkAccount,
  unlinkAccount,
} from "./reader.store.ts";

/** The account that an identity provider names at a sign-in. */
interface ProviderLink extends Pick<ForgeAccount, "principal" | "kind"> {
  readonly issuer: string;
  /** Undefined when it named no account. */
  readonly account: string | undefined;
}

/**
 * Links a principal with the account that its identity provider names, or ends such a link when it names none. A link
 * that an administrator made stays.
 */
export async function linkAccountOfProvider(
  tx: Tx,
  { principal, kind, issuer, account }: ProviderLink,
  now: Date,
): Promise<void> {
  const linkedBy = `provider ${issuer}`;
  const known = await accountOf(tx, principal, kind);
  if (known !== undefined && known.linkedBy !== linkedBy) return;
  // GitHub ignores the case of logins.
  const named = account?.toLowerCase();
  if (named === known?.account) return;
  await endReadRights(tx, { principal, kind });
  if (named === undefined) await unlinkAccount(tx, { principal, kind });
  else await linkAccount(tx, { principal, kind, account: named, linkedBy, linkedAt: now });
}

/** Ends the rights that a principal has from an account. */
export async function endReadRights(
  tx: Tx,
  { principal, kind }: Pick<ForgeAccount, "principal" | "kind">,
): Promise<void> {
  await forgetReadings(tx, { principal });
  await endTemporaryRights(tx, { principal, source: kind });
}
