import { Fault } from "#core/fault.ts";
import { longestShareMs, type SharedObject } from "#core/shared-object.ts";
import type { Db, Tx } from "#db/db.ts";
import { recordAudit } from "../audit.store.ts";
import { effectiveGrants } from "../grant.store.ts";
import type { Principal, Where } from "../principal.ts";
import { mayDo, requireGrant } from "../require-grant.ts";
import { fingerprintOf, isShareTokenShaped, newShareToken } from "../secret-token.ts";
import { judgeShareLink, verbToShare } from "./judge-share-link.ts";
import {
  deleteOldShareLinks,
  insertShareLink,
  markOpened,
  markShareLinkRevoked,
  revokeLinksOfMakerWithoutToken,
  type ShareLink,
  storedShareLink,
} from "./share-link.store.ts";

/** How long a link stays in the list of links after its end, in ms. */
const listedAfterEndMs = 90 * 24 * 3_600_000;

/**
 * Makes a link to an object. Returns it with its token, which is stored nowhere.
 *
 * Throws `permission_denied` unless the caller may read the object by grants of its own name: the rights of a group of an
 * identity provider exist in sessions only, and could not be checked when the link is opened.
 */
export async function makeShareLink(
  tx: Tx,
  by: Principal,
  object: SharedObject,
  { repository, branch }: Where,
  expiresInMs: number,
  now: Date,
): Promise<{ readonly link: ShareLink; readonly token: string }> {
  const where = { repository, branch };
  const verb = verbToShare(object);
  requireGrant(by, "share", where);
  requireGrant(by, verb, where);
  const own = { name: by.name, grants: await effectiveGrants(tx, [by.name]) };
  if (!mayDo(own, verb, where)) {
    throw new Fault(
      "permission_denied",
      `${by.name} has \`${verb}\` there only through a group, and a share link needs a grant of your own. Ask an administrator of the farm for one`,
    );
  }
  const token = newShareToken();
  const fingerprint = fingerprintOf(token);
  const made = {
    object,
    ...where,
    madeBy: by.name,
    madeAt: now,
    expiresAt: new Date(now.getTime() + Math.min(expiresInMs, longestShareMs)),
  };
  await deleteOldShareLinks(tx, new Date(now.getTime() - listedAfterEndMs));
  await insertShareLink(tx, fingerprint, made);
  await recordChange(tx, "make", by, { id: fingerprint.id, ...made });
  const link = { id: fingerprint.id, ...made, openedAt: null, revokedAt: null, revokedBy: null };
  return { link, token };
}

/**
 * Returns the link that a token opens, and records the first opening in the audit log.
 *
 * Throws `not_found`, in the same words for each reason.
 */
export async function openShareLink(
  db: Db,
  token: string | undefined,
  by: Principal,
  now: Date,
): Promise<ShareLink> {
  if (token === undefined || !isShareTokenShaped(token)) throw noShareLink();
  const fingerprint = fingerprintOf(token);
  const stored = await storedShareLink(db, fingerprint.id);
  const grants = stored === undefined ? [] : await effectiveGrants(db, [stored.madeBy]);
  const link = judgeShareLink(fingerprint, stored, grants, now);
  if (link === undefined) throw noShareLink();
  if (link.openedAt !== null) return link;
  await db.transaction(async (tx) => {
    // Of two openings at once, one is the first.
    if (!(await markOpened(tx, link.id, now))) return;
    await recordChange(tx, "open", by, link);
  });
  return link;
}

/**
 * Ends a link at once.
 *
 * @param madeBy the maker whose links the caller may end; undefined: all
 * @returns undefined when there is no such link
 */
export async function revokeShareLink(
  tx: Tx,
  id: string,
  madeBy: string | undefined,
  by: Principal,
  now: Date,
): Promise<ShareLink | undefined> {
  const link = await markShareLinkRevoked(tx, { id, madeBy }, by.name, now);
  if (link !== undefined) await recordChange(tx, "revoke", by, link);
  return link;
}

/**
 * Ends the links of a maker that cannot identify itself any more: its last token was revoked, or its identity removed.
 * They stay revoked when it gets a new token.
 */
export async function endLinksOfGoneMaker(
  tx: Tx,
  maker: string,
  by: string,
  now: Date,
): Promise<void> {
  const links = await revokeLinksOfMakerWithoutToken(tx, maker, by, now);
  for (const link of links) await recordChange(tx, "revoke", { name: by }, link);
}

/** Records what was done with a link, also for the audit log of its graph. */
async function recordChange(
  tx: Tx,
  what: "make" | "open" | "revoke",
  by: Pick<Principal, "name">,
  { id, object, madeBy, expiresAt }: Pick<ShareLink, "id" | "object" | "madeBy" | "expiresAt">,
): Promise<void> {
  const detail = { what: `${what} share link`, id, object, madeBy, expiresAt };
  const of = object.kind === "comparison" ? {} : { graphId: object.graph, job: object.job };
  await recordAudit(tx, { actor: by.name, verb: "share", ...of, detail });
}

function noShareLink(): Fault {
  return new Fault(
    "not_found",
    "there is no such share link: it may have expired, somebody may have revoked it, or its creator may have lost the right to read the object",
  );
}
