import type { Verb } from "#core/verb.ts";
import { matchesPattern } from "./matches-pattern.ts";
import { anyone, type GrantToGive, type Where } from "./principal.ts";

/** A grant as it was given, with its principal. */
interface GivenGrant extends GrantToGive {
  readonly principal: string;
}

interface KnownRole {
  readonly name: string;
  readonly verbs: readonly (Verb | "*")[];
}

/** Returns the grants that give a verb: by itself, by `*`, or by a role. */
export function grantsGiving<Given extends GrantToGive>(
  verb: Verb,
  grants: readonly Given[],
  roles: readonly KnownRole[],
): Given[] {
  const giving = new Set<string>([
    "*",
    verb,
    ...roles
      .filter(({ verbs }) => verbs.includes("*") || verbs.includes(verb))
      .map(({ name }) => `role:${name}`),
  ]);
  return grants.filter((grant) => giving.has(grant.verb));
}

/**
 * Returns the grants by which a principal may do something at a place, and its grants of that verb for other places.
 * Grants of `anyone` count, because the principal has them by sending no token.
 */
export function explainRight<Given extends GivenGrant>(
  principal: string,
  verb: Verb,
  { repository, branch }: Where,
  grants: readonly Given[],
  roles: readonly KnownRole[],
): { readonly allowed: Given[]; readonly elsewhere: Given[] } {
  const own = grants.filter((grant) => [principal, anyone].includes(grant.principal));
  const giving = grantsGiving(verb, own, roles);
  const isHere = (grant: Given) =>
    matchesPattern(grant.repository, repository) && matchesPattern(grant.branch, branch);
  return { allowed: giving.filter(isHere), elsewhere: giving.filter((grant) => !isHere(grant)) };
}
