import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { type ListedEnrolment, markEnrolmentRevoked } from "./enrolment.store.ts";
import { deleteGrants, lockRights, type NamedGrants } from "./grant.store.ts";
import { requireAnAdministrator } from "./rights-guard.ts";
import { endLinksOfGoneMaker } from "./share-links/share-links.ts";
import { type ListedToken, markTokenRevoked } from "./token.store.ts";

/** Removes rules; throws `not_found` when there is none, and refuses the last right to administer. */
export async function removeGrants(tx: Tx, named: NamedGrants, now: Date): Promise<number> {
  await lockRights(tx);
  const removed = await deleteGrants(tx, named);
  if (removed === 0) {
    throw new Fault(
      "not_found",
      `${named.principal} has no such grant; \`grange grant list\` lists all grants`,
    );
  }
  await requireAnAdministrator(tx, now);
  return removed;
}

/**
 * Revokes a token permanently, and the share links of its principal if it has no other valid token. Refuses the last
 * token of the last administrator.
 */
export async function revokeToken(
  tx: Tx,
  id: string,
  by: string,
  now: Date,
): Promise<ListedToken | ListedEnrolment> {
  await lockRights(tx);
  const token = await markTokenRevoked(tx, id, by, now);
  if (token !== undefined) await endLinksOfGoneMaker(tx, token.principal, by, now);
  const revoked = token ?? (await markEnrolmentRevoked(tx, id, by, now));
  if (revoked === undefined) {
    throw new Fault(
      "not_found",
      `there is no token "${id}"; \`grange token list\` lists all tokens`,
    );
  }
  await requireAnAdministrator(tx, now);
  return revoked;
}
