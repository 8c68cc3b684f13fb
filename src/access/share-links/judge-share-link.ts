import type { SharedObject } from "#core/shared-object.ts";
import type { Verb } from "#core/verb.ts";
import type { Grant } from "../principal.ts";
import { mayDo } from "../require-grant.ts";
import { isSameHash, type TokenFingerprint } from "../secret-token.ts";
import type { ShareLink, StoredShareLink } from "./share-link.store.ts";

/** The right that the maker of a link needs for its object. */
export function verbToShare({ kind }: SharedObject): Verb {
  switch (kind) {
    case "log":
      return "read-logs";
    case "output":
    case "comparison":
      return "read";
  }
}

/**
 * Returns the link that a token opens now. Undefined when the token is another one, when the link was revoked or is
 * over, and when its maker may not read the object any more.
 *
 * @param grants of the link's maker
 */
export function judgeShareLink(
  { hash }: TokenFingerprint,
  stored: StoredShareLink | undefined,
  grants: readonly Grant[],
  now: Date,
): ShareLink | undefined {
  if (stored === undefined || !isSameHash(stored.hash, hash)) return undefined;
  if (stored.revokedAt !== null || stored.expiresAt <= now) return undefined;
  const { hash: _, ...link } = stored;
  const maker = { name: link.madeBy, grants };
  return mayDo(maker, verbToShare(link.object), link) ? link : undefined;
}
